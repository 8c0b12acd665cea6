"""A small worker-placement game written five times, to be measured in one run; `play.rules` says what it is."""
