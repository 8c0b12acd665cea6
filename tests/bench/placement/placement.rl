# The game of play.rules in Rulebook (rl-language-core): the rules as an action function, and random play that asks of
# each action whether it may be taken. Dice are actions too, as the language has it; their faces come from the stream
# that all the others use, so that all play the same games.

import bounded_arg
import action

using Space = BInt<0, 20>
using Face = BInt<1, 7>

fun price(Int s) -> Int:
  if s < 4:
    return s + 1
  if s < 8:
    return s - 2
  if s < 11:
    return s - 5
  if s == 11:
    return 5
  if s < 15:
    return 16 - s
  if s < 18:
    return 19 - s
  if s == 18:
    return 2
  return 1

fun profit(Int h) -> Int:
  if h == 0:
    return 18
  if h == 1:
    return 24
  return 36

fun pays(Int k) -> Int:
  if k == 0:
    return 6
  if k == 1:
    return 8
  return 15

cls Board:
  Int[4] cash
  Int[20] holder
  Int[3] sailed
  Int[20] prices

  fun set_up():
    let i = 0
    while i != 4:
      self.cash[i] = 30
      i = i + 1
    i = 0
    while i != 20:
      self.prices[i] = price(i)
      i = i + 1

  fun set_out():
    let i = 0
    while i != 20:
      self.holder[i] = 0 - 1
      i = i + 1
    i = 0
    while i != 3:
      self.sailed[i] = 0
      i = i + 1

  fun pay(Int s, Int amount):
    if self.holder[s] >= 0:
      self.cash[self.holder[s]] = self.cash[self.holder[s]] + amount

  fun pay_out():
    let arrived = 0
    let h = 0
    while h != 3:
      if self.sailed[h] >= 11:
        arrived = arrived + 1
        let crew = 0
        let b = 4 * h
        while b != 4 * h + 4:
          if self.holder[b] >= 0:
            crew = crew + 1
          b = b + 1
        if crew != 0:
          let share = profit(h) / crew
          b = 4 * h
          while b != 4 * h + 4:
            self.pay(b, share)
            b = b + 1
      h = h + 1
    let k = 0
    while k < arrived:
      self.pay(12 + k, pays(k))
      k = k + 1
    k = 0
    while k < 3 - arrived:
      self.pay(15 + k, pays(k))
      k = k + 1
    self.pay(18, 3)
    self.pay(19, 10 - (6 * (3 - arrived)))

@classes
act play() -> Placement:
  frm board : Board
  frm leader = 0
  frm voyage = 0
  frm round = 0
  frm turn = 0
  frm player = 0
  frm ship = 0
  board.set_up()
  while voyage != 5:
    board.set_out()
    round = 0
    while round != 3:
      turn = 0
      while turn != 4:
        player = (leader + turn) % 4
        actions:
          act place(Space s) {board.holder[s.value] == 0 - 1, board.prices[s.value] <= board.cash[player]}
            board.cash[player] = board.cash[player] - board.prices[s.value]
            board.holder[s.value] = player
          act fish()
            board.cash[player] = board.cash[player] + 2
          act wait()
            board.cash[player] = board.cash[player]
        turn = turn + 1
      ship = 0
      while ship != 3:
        act roll(Face face)
        board.sailed[ship] = board.sailed[ship] + face.value
        ship = ship + 1
      round = round + 1
    board.pay_out()
    leader = (leader + 1) % 4
    voyage = voyage + 1

fun shifted(Int z, Int by) -> Int:
  return (z >> by) & ((1 << (64 - by)) - 1)

fun mix(Int z) -> Int:
  z = (z ^ shifted(z, 30)) * 0xBF58476D1CE4E5B9
  z = (z ^ shifted(z, 27)) * 0x94D049BB133111EB
  return z ^ shifted(z, 31)

fun hm_play(Int games, Int seed, Int policy, Int dice, Int[8] out):
  let golden = 0x9E3779B97F4A7C15
  let number = 0
  let decisions = 0
  let offered = 0
  let space : Space
  let face : Face
  let options : Int[22]
  while number != games:
    let own = mix((seed * golden) + number)
    let x = mix((own * golden) + policy)
    let key = mix((own * golden) + dice)
    let row = 1
    let game = play()
    while !game.is_done():
      if can game.fish():
        let n = 0
        let s = 0
        while s != 20:
          space.value = s
          if can game.place(space):
            options[n] = s
            n = n + 1
          s = s + 1
        options[n] = 20
        options[n + 1] = 21
        n = n + 2
        x = (x * 6364136223846793005) + 1442695040888963407
        let k = (shifted(x, 32) * n) >> 32
        let chosen = options[k]
        decisions = decisions + 1
        offered = offered + n
        if chosen < 20:
          space.value = chosen
          game.place(space)
        else:
          if chosen == 20:
            game.fish()
          else:
            game.wait()
      else:
        let h = 1
        while h != 4:
          let bits = mix(key + (row * 0xD1342543DE82EF95) + (h * 0x2545F4914F6CDD1D))
          face.value = 1 + (((shifted(bits, 32) * 6) + (((bits & 0xFFFFFFFF) * 6) >> 32)) >> 32)
          game.roll(face)
          h = h + 1
        row = row + 1
    let p = 0
    while p != 4:
      out[p] = out[p] + game.board.cash[p]
      p = p + 1
    number = number + 1
  out[4] = decisions
  out[5] = offered

fun main() -> Int:
  let out : Int[8]
  hm_play(1000, 5, 1, 2, out)
  return 0
