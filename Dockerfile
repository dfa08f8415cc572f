# Two stages: the first installs the locked requirements, the second holds only what runs.
FROM python:3.11-slim AS build
WORKDIR /app
COPY requirements.lock .
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir --require-hashes -r requirements.lock

FROM python:3.11-slim
RUN useradd --uid 10001 --create-home gpubot && install -d -o gpubot /data
COPY --from=build /venv /venv
WORKDIR /app
COPY capacity capacity
COPY commands commands
COPY gitops gitops
COPY bot bot
COPY app-manifest.yaml .
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 GPUBOT_DATABASE_URL=sqlite:////data/gpubot.db
USER 10001
VOLUME /data
ENTRYPOINT ["python", "-m", "bot"]
CMD ["run"]
