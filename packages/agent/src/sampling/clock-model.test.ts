import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random } from '../../../sdk/test/random.ts'
import { ClockModel } from './clock-model.ts'

const SECOND_NS = 1_000_000_000n

/** How fast a device clock may run, and its rate may change. Unit: parts of one, and of one in a second. */
const DRIFT_MAX = 200e-6
const WANDER_MAX = 0.9e-6

/** A counter of 64 bits that runs at its own pace, which changes slowly, from its own beginning. */
class DoubleClock {
  readonly #hertz: number
  readonly #firstTicks: bigint
  /** The drift is `#mean` and a wave around it. */
  readonly #mean: number
  readonly #wave: number
  readonly #perNs: number

  constructor(hertz: number, firstTicks: bigint, { mean = 0, wave = 0, periodS = 1 } = {}) {
    this.#hertz = hertz
    this.#firstTicks = firstTicks
    this.#mean = mean
    this.#wave = wave
    this.#perNs = (2 * Math.PI) / (periodS * 1e9)
  }

  static any(random: Random, hertz: number): DoubleClock {
    const mean = between(random, -DRIFT_MAX, DRIFT_MAX)
    const periodS = between(random, 5, 600)
    const wave = Math.min(DRIFT_MAX - Math.abs(mean), (WANDER_MAX * periodS) / (2 * Math.PI)) * between(random, -1, 1)
    // Most counters begin at boot; one that begins near its end wraps meanwhile.
    const firstTicks = random.chance(0.3)
      ? 2n ** 64n - BigInt(random.integer(1, hertz * 30))
      : BigInt(random.integer(0, 2 ** 40))
    return new DoubleClock(hertz, firstTicks, { mean, wave, periodS })
  }

  ticks(monoNs: bigint): bigint {
    const hostNs = Number(monoNs)
    const aheadNs = this.#mean * hostNs - (this.#wave * (Math.cos(this.#perNs * hostNs) - 1)) / this.#perNs
    return BigInt.asUintN(64, this.#firstTicks + BigInt(Math.floor(((hostNs + aheadNs) * this.#hertz) / 1e9)))
  }
}

const between = (random: Random, low: number, high: number) => low + random.next() * (high - low)
const away = (a: bigint, b: bigint) => (a > b ? a - b : b - a)

/** Halves of a bracket: some 2 µs, and now and then the process was elsewhere for long. Unit: nanoseconds. */
function jitterNs(random: Random): bigint {
  return BigInt(random.chance(0.05) ? random.integer(0, 5_000_000) : random.integer(200, 4000))
}

test('a time is never further off than the model says, whatever pace, bracket, distance and wrap', () => {
  const random = new Random(11)
  for (let round = 0; round < 200; round++) {
    const hertz = random.integer(1_000_000, 1_000_000_000)
    const double = DoubleClock.any(random, hertz)
    const model = new ClockModel(hertz)
    const apartNs = random.pick([10_000_000, 100_000_000, 2_000_000_000])
    let nowNs = BigInt(random.integer(0, 1_000_000_000))
    for (let reading = 0; reading < 200; reading++) {
      // A reading lies anywhere between the two of the host.
      model.bracket(nowNs - jitterNs(random), double.ticks(nowNs), nowNs + jitterNs(random))
      const askedNs = nowNs + BigInt(random.integer(-Math.min(Number(nowNs), 1_000_000_000), 2_000_000_000))
      const ticks = double.ticks(askedNs)
      const [offNs, statedNs] = [away(model.monoNs(ticks), askedNs), model.errorNs(ticks)]
      assert.ok(offNs <= statedNs, `round ${round}, reading ${reading}: ${offNs} ns off, ${statedNs} stated`)
      nowNs += BigInt(random.integer(0, apartNs))
    }
    assert.equal(model.steps, 0)
  }
})

test('the rate is learned from brackets, so that the error between them grows slowly', () => {
  const random = new Random(12)
  for (let round = 0; round < 20; round++) {
    const double = DoubleClock.any(random, 1_000_000_000)
    const model = new ClockModel(1e9)
    const grownNs = () => {
      const { ticks = 0n } = model.anchor ?? {}
      return Number(model.errorNs(BigInt.asUintN(64, ticks + 1_000_000_000n)) - model.errorNs(ticks))
    }
    for (let nowNs = 0n; nowNs < 20n * SECOND_NS; nowNs += 50_000_000n) {
      model.bracket(nowNs - jitterNs(random), double.ticks(nowNs), nowNs + jitterNs(random))
      if (nowNs === 0n) assert.ok(grownNs() > 200_000, 'a clock of which nothing is known')
    }
    assert.ok(grownNs() < 10_000, `round ${round}: ${grownNs()} ns in a second`)
  }
})

test('a wide bracket does not replace a narrow one that is still better, and does once that has aged', () => {
  const double = new DoubleClock(1e9, 0n)
  const model = new ClockModel(1e9)
  model.bracket(1_000n, double.ticks(1_050n), 1_100n)
  model.bracket(100_000n, double.ticks(150_000n), 200_000n)
  assert.equal(model.anchor?.beforeNs, 1_000n)
  const laterNs = 60n * SECOND_NS
  model.bracket(laterNs, double.ticks(laterNs + 50_000n), laterNs + 100_000n)
  assert.equal(model.anchor?.beforeNs, laterNs)
})

test('a step of the wall clock moves times of the wall clock alone', (t) => {
  const model = new ClockModel(1e9)
  model.bracket(SECOND_NS, 0n, SECOND_NS + 100n)
  const [monoNs, wallNs] = [model.monoNs(SECOND_NS), model.wallNs(SECOND_NS)]
  const before = Date.now()
  t.mock.method(Date, 'now', () => before + 3_600_000)
  assert.equal(model.monoNs(SECOND_NS), monoNs)
  const movedNs = Number(model.wallNs(SECOND_NS) - wallNs)
  assert.ok(Math.abs(movedNs - 3.6e12) < 1e9, `${movedNs} ns`)
  assert.equal(model.steps, 0)
})

test('a clock that is set, or begins anew, is followed at once and counted', () => {
  const model = new ClockModel(1e9)
  model.bracket(SECOND_NS, 5n * SECOND_NS, SECOND_NS + 100n)
  model.bracket(2n * SECOND_NS, 0n, 2n * SECOND_NS + 100n)
  assert.equal(model.steps, 1)
  assert.equal(model.monoNs(SECOND_NS), 3n * SECOND_NS + 50n)
  assert.equal(model.wallNs(SECOND_NS, 7n), 3n * SECOND_NS + 57n)
})
