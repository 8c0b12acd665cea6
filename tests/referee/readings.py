"""Every question of manila.md section 3 with its readings; the first reading is the base game."""

QUESTIONS: dict[str, tuple[str, ...]] = {
    "starting-shares": ("random", "two-different"),
    "deal-pool": ("three-of-each", "all-twenty"),
    "first-all-pass": ("opener-free", "opener-must-bid-one"),
    "last-silent-bidder": ("asked", "wins-free"),
    "bid-ceiling": ("credit", "cash", "cash-and-market-value"),
    "start-spaces": ("up-to-five", "any-sum-nine"),
    "refrain-lasts": ("voyage", "round"),
    "berth-choice": ("cheapest", "any"),
    "berth-after-arrival": ("closed", "open"),
    "harbour-space-after-arrival": ("open", "closed"),
    "stowaway-pays": ("all-cash", "nothing"),
    "stowaway-when": ("no-credit", "no-cash"),
    "stowaway-where": ("anywhere-but-insurance", "punts-only", "never"),
    "broke-may-insure": ("no", "yes"),
    "extra-placing-of-three": ("before-roll-1", "before-roll-2"),
    "arrival-order": ("lane", "harbour-master"),
    "rolls-that-board": ("second-only", "first-and-second"),
    "captain-protected": ("yes", "no"),
    "who-may-be-evicted": ("anyone", "own-accomplice"),
    "vacancies-first": ("over-all-punts", "per-punt"),
    "boarder-still-plunders": ("no", "yes"),
    "vacated-seat": ("free-again", "spent"),
    "boarder-berth": ("cheapest", "any"),
    "plunder-split": ("equal", "captain-two-thirds"),
    "plunder-paid": ("with-profits", "at-once"),
    "captured-to-port-pays-space": ("yes", "no"),
    "captured-to-shipyard-insured": ("yes", "no"),
    "thirteen-without-pirates": ("arrives", "shipyard"),
    "pilot-onto-13": ("safe", "plundered-at-once"),
    "large-pilot": ("up-to-two", "exactly-two", "two-pushes"),
    "pilot-time": ("after-last-placing", "before-last-placing"),
    "pilot-behind-zero": ("not-allowed", "stops-at-zero"),
    "insurance-without-wreck": ("keeps-ten", "ten-more"),
    "insurance-trigger": ("shipyard", "arrivals"),
    "repair": ("once", "to-bank-and-accomplice"),
    "empty-shipyard-space": ("insurer-pays-bank", "costs-nothing"),
    "loans": ("at-own-decisions", "any-time", "forced-only", "none"),
    "pledged-share-lies": ("face-down", "face-up"),
    "redeemed-share-lies": ("face-up", "in-hand"),
    "end-comes": ("after-all-rises", "mid-rise"),
    "pledged-at-end": ("minus-fifteen", "must-redeem"),
    "tie": ("shared", "most-cash", "later-seat"),
}

VARIANTS = ("enhanced-pirates", "open-outcry", "sealed-bids", "price-by-fives")


def settled(chosen: dict[str, str] | None) -> dict[str, str]:
    """Gets one reading for every question: the chosen ones over the base game's."""
    answers = {question: readings[0] for question, readings in QUESTIONS.items()}
    for question, reading in (chosen or {}).items():
        if question not in QUESTIONS:
            raise ValueError(f"no question {question!r}")
        if reading not in QUESTIONS[question]:
            raise ValueError(f"no reading {reading!r} of {question}, want one of {QUESTIONS[question]}")
        answers[question] = reading
    return answers


def checked_variants(chosen: tuple[str, ...]) -> frozenset[str]:
    """Gets the set of variants in force, or raises for an unknown or impossible one."""
    for variant in chosen:
        if variant not in VARIANTS:
            raise ValueError(f"no variant {variant!r}, want one of {VARIANTS}")
    if "open-outcry" in chosen and "sealed-bids" in chosen:
        raise ValueError("open-outcry and sealed-bids both replace the auction")
    return frozenset(chosen)
