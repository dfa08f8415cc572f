"""Amounts that saturate, and amounts from quantities (pkg/resources/amount_test.go)."""

from capacity.amount import SMALLEST
from capacity.model import UNLIMITED
from tests.capacity.kueue_tables import Table

FILE = "pkg/resources/amount_test.go"
MI, EXA = 2**20, 10**18

QUANTITIES = {
    "small cpu": ("cpu", "2", 2_000),
    "less than one cpu": ("cpu", "500m", 500),
    "a peta of cpu is kept": ("cpu", "1P", EXA),
    "an exa of cpu is unlimited": ("cpu", "1E", UNLIMITED),
    "ten peta of cpu are unlimited": ("cpu", "10P", UNLIMITED),
    "small memory": ("memory", "512Mi", 512 * MI),
    "an exa of memory is kept": ("memory", "1E", EXA),
    "memory beyond 64 bits is unlimited": ("memory", "10E", UNLIMITED),
    "any other resource": ("example.com/gpu", "8", 8),
}

ARITHMETIC = {
    "bounded plus unlimited": ("+", 5, UNLIMITED, UNLIMITED),
    "a sum that overflows": ("+", UNLIMITED - 5, 100, UNLIMITED),
    "unlimited minus bounded": ("-", UNLIMITED, 1000, UNLIMITED),
    "unlimited is greater than any bounded": (">", UNLIMITED, UNLIMITED - 1, True),
    "two unlimited are equal": ("=", UNLIMITED, UNLIMITED, True),
    "unlimited minus unlimited": ("-", UNLIMITED, UNLIMITED, 0),
    "bounded minus unlimited": ("-", 1000, UNLIMITED, SMALLEST),
    "a sum that overflows by a plain number": ("+", UNLIMITED - 1, 100, UNLIMITED),
}

FROM_QUANTITY = Table("TestAmountFromQuantity", FILE, 9, (QUANTITIES,))
AMOUNT_ARITHMETIC = Table("TestAmountArithmetic", FILE, 8, (ARITHMETIC,))
TABLES = (FROM_QUANTITY, AMOUNT_ARITHMETIC)
