"""What is printed on the board of Manila, and the bag it is played with (manila.md section 1)."""

WARES = ("ginseng", "nutmeg", "silk", "jade")
BERTHS: dict[str, tuple[int, ...]] = {
    "ginseng": (1, 2, 3),
    "nutmeg": (2, 3, 4),
    "silk": (3, 4, 5),
    "jade": (3, 4, 5, 5),
}
PROFIT = {"ginseng": 18, "nutmeg": 24, "silk": 30, "jade": 36}
LETTERS = ("A", "B", "C")
SPACE_PRICES = (4, 3, 2)  # harbour and shipyard alike
SPACE_PAYS = (6, 8, 15)
PIRATE_PRICE = 5
PIRATE_SEATS = 2
SMALL_PILOT_PRICE = 2
LARGE_PILOT_PRICE = 5
INSURANCE_PAYS = 10

START_CASH = 30
SHARES_EACH = 2
SHARES_A_WARE = 5
TRACK = (0, 5, 10, 20, 30)
TRACK_BY_FIVES = (0, 5, 10, 15, 20, 25, 30)
LEAST_SHARE_PRICE = 5
LOAN = 12
REDEEMING = 15
LANE = 13
START_UP_TO = 5
START_SUM = 9
