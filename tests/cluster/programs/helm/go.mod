module gpubot.test/helm

go 1.26.8
