import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random } from '../../../sdk/test/random.ts'
import { ClockModel } from './clock-model.ts'

const SECOND_NS = 1_000_000_000n

/** A device clock that runs at its own pace from its own beginning; unit of `fastPpb`: parts per billion. */
class DoubleClock {
  readonly #hertz: bigint
  readonly #fastPpb: bigint
  readonly #firstTicks: bigint

  constructor(hertz: bigint, fastPpb: bigint, firstTicks: bigint) {
    this.#hertz = hertz
    this.#fastPpb = fastPpb
    this.#firstTicks = firstTicks
  }

  ticks(monoNs: bigint): bigint {
    return this.#firstTicks + (monoNs * this.#hertz * (SECOND_NS + this.#fastPpb)) / (SECOND_NS * SECOND_NS)
  }
}

const away = (a: bigint, b: bigint) => (a > b ? a - b : b - a)

test('a time is never further off than the model says, whatever pace, bracket and distance', () => {
  const random = new Random(11)
  for (let round = 0; round < 300; round++) {
    const hertz = BigInt(random.integer(1_000_000, 1_000_000_000))
    const double = new DoubleClock(hertz, BigInt(random.integer(-99_000, 99_000)), BigInt(random.integer(0, 2 ** 40)))
    const model = new ClockModel(Number(hertz))
    let nowNs = BigInt(random.integer(0, 2 ** 45))
    // A reading lies anywhere between the two of the host.
    for (let reading = 0; reading < 20; reading++) {
      const [aheadNs, behindNs] = [BigInt(random.integer(0, 500_000)), BigInt(random.integer(0, 500_000))]
      model.bracket(nowNs - aheadNs, double.ticks(nowNs), nowNs + behindNs)
      const askedNs = nowNs + BigInt(random.integer(-1_000_000_000, 1_000_000_000))
      const ticks = double.ticks(askedNs)
      // A tick of the device is as fine as it gets.
      const limitNs = model.errorNs(ticks) + SECOND_NS / hertz + 1n
      assert.ok(away(model.monoNs(ticks), askedNs) <= limitNs, `round ${round}, reading ${reading}`)
      nowNs += BigInt(random.integer(0, 2_000_000_000))
    }
    assert.equal(model.steps, 0)
  }
})

test('a wide bracket does not replace a narrow one that is still better, and does once that has aged', () => {
  const double = new DoubleClock(1_000_000_000n, 0n, 0n)
  const model = new ClockModel(1e9)
  model.bracket(1_000n, double.ticks(1_050n), 1_100n)
  model.bracket(100_000n, double.ticks(150_000n), 200_000n)
  assert.equal(model.anchor?.beforeNs, 1_000n)
  const laterNs = 60n * SECOND_NS
  model.bracket(laterNs, double.ticks(laterNs + 50_000n), laterNs + 100_000n)
  assert.equal(model.anchor?.beforeNs, laterNs)
})

test('a clock that is set, or begins anew, is followed at once and counted', () => {
  const model = new ClockModel(1e9)
  model.bracket(SECOND_NS, 5n * SECOND_NS, SECOND_NS + 100n)
  model.bracket(2n * SECOND_NS, 0n, 2n * SECOND_NS + 100n)
  assert.equal(model.steps, 1)
  assert.equal(model.monoNs(SECOND_NS), 3n * SECOND_NS + 50n)
  assert.equal(model.wallNs(SECOND_NS, 7n), 3n * SECOND_NS + 57n)
})
