import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Test } from '../rule.ts'
import { type TestSamples, walkedEdges } from './test-samples.ts'

const TOP = 2n ** 64n

const gt = (value: bigint | number, onSamples = 1, offSamples = onSamples): Test => {
  return { kind: 'gt', value, onSamples, offSamples }
}
const lt = (value: bigint | number, onSamples = 1, offSamples = onSamples): Test => {
  return { kind: 'lt', value, onSamples, offSamples }
}
const inc = (value: bigint | number): Test => ({ kind: 'inc_gt', value })
const dt = (kind: 'dt_gt' | 'dt_lt', value: bigint | number, overSamples: number, offSamples = overSamples): Test => {
  return { kind, value, overSamples, offSamples }
}

/** Samples of one signal; `null`: samples are missing. */
function column(values: readonly (bigint | number | null)[]): TestSamples {
  return values.map((value) => (value === null ? undefined : [value]))
}

/** What each sample changed, as the vectors are written: `.`, `+` or `-`. */
function changes(values: readonly (bigint | number)[], rule: Test, arithmetic: 'reference' | 'fixed'): string {
  const edges = walkedEdges(column(values), { tests: [rule], arithmetic })
  const found = new Map(edges.map((edge) => [Number(edge.slice(2, -1)), edge.at(-1)]))
  return values.map((_, sample) => found.get(sample) ?? '.').join('')
}

/** A rule, samples, and what changed by the reference's arithmetic. */
const VECTORS: readonly (readonly [Test, readonly (bigint | number)[], string])[] = [
  [inc(10), [100, 105, 110, 111, 119, 120, 131, 150, 151, 161], '..+-.+..-+'],
  [inc(0), [5, 5, 4, 5], '+.-+'],
  [inc(10), [100, 111, 50, 60, 122, 200], '.+-.+.'],
  [gt(10, 4), [11, 11, 11, 10, 11, 11, 11, 11, 50, 10, 10, 10, 11, 10, 10, 10, 10, 10], '.......+........-.'],
  [gt(10, 1), [11, 5, 11], '+-+'],
  [lt(10, 2), [10, 9, 9, 9, 10, 10], '..+..-'],
  [dt('dt_gt', 10, 4), [0, 0, 0, 0, 0, 11, 11, 11, 11, 11, 11, 11, 11, 11], '.....+......-.'],
  [dt('dt_gt', 10, 4), [0, 100, 200, 300, 400, 410, 410, 410, 410, 410, 410, 410, 410], '....+......-.'],
  [dt('dt_lt', 10, 2), [0, 100, 200, 205, 206, 207, 300, 400, 500, 600], '....+..-..'],
  [dt('dt_gt', 10, 2), [1000, 1000, 1000, 5, 5, 5, 5, 5], '...+..-.'],
  [dt('dt_lt', 10, 2), [1000, 1001, 1002, 1003, 5, 6, 7, 8, 9], '..+..-+..'],
  [dt('dt_gt', 10, 1), [0, 11, 22, 23, 40], '.+.-+'],
  [inc(10), [TOP - 5n, TOP - 4n, 3n, 4n, 14n], '+.-.+'],
  [inc(10), [TOP - 12n, TOP - 5n, TOP - 4n, TOP - 3n, TOP - 3n, TOP - 1n, 2n, 3n, 4n, 12n], '.....+-..+'],
]

suite('a walk with the arithmetic of the reference application', () => {
  for (const [rule, values, wanted] of VECTORS) {
    test(`${rule.kind} of ${values.join(' ')}`, () => equal(changes(values, rule, 'reference'), wanted))
  }
})

suite('a walk with the fixed arithmetic', () => {
  test('sees no jump where a counter was reset', () => {
    equal(changes([1000, 1000, 1000, 5, 5, 5, 5, 5], dt('dt_gt', 10, 2), 'fixed'), '........')
  })

  test('does not end a lower limit because of a reset', () => {
    equal(changes([1000, 1001, 1002, 1003, 5, 6, 7, 8, 9], dt('dt_lt', 10, 2), 'fixed'), '..+......')
  })

  test('counts the increase from the reset on', () => {
    equal(changes([100, 111, 50, 60, 122, 200], inc(10), 'fixed'), '.+-+..')
  })

  test('never fires where the target would be above 64 bits', () => {
    equal(changes([TOP - 5n, TOP - 4n, TOP - 1n], inc(10), 'fixed'), '...')
  })

  test('goes over a wrap of 32 bits as if the counter were wider', () => {
    const from = 2 ** 32 - 50
    const values = [from, from + 20, from + 40, 10, 30, 50, 70]
    equal(changes(values, dt('dt_gt', 45, 2), 'fixed'), '.......')
    equal(changes(values, dt('dt_gt', 35, 2), 'fixed'), '..+....')
    equal(changes(values, inc(60), 'fixed'), '...+-.+')
  })

  test('counts samples in a row anew behind a gap', () => {
    deepEqual(walkedEdges(column([11, 11, null, 11, 11, 11, 5]), { tests: [gt(10, 3, 1)] }), ['0@4+', '0@5-'])
  })

  test('compares with no sample before a gap', () => {
    deepEqual(walkedEdges(column([0, 0, null, 100, 100, 200]), { tests: [dt('dt_gt', 50, 2)] }), ['0@4+'])
  })

  test('puts ends before beginnings within a sample', () => {
    const tests = [gt(10), lt(10)]
    deepEqual(walkedEdges(column([11, 5, 11]), { tests }), ['0@0+', '0@1-', '1@1+', '1@2-', '0@2+'])
    const reference = walkedEdges(column([11, 5, 11]), { tests, arithmetic: 'reference' })
    deepEqual(reference, ['0@0+', '0@1-', '1@1+', '0@2+', '1@2-'])
  })

  test('says whether a value is beyond by both words', () => {
    const values = [2n ** 32n, 2n ** 32n + 1n, 2n ** 33n, 5n]
    equal(changes(values, gt(2n ** 32n), 'fixed'), '.+.-')
    equal(changes(values, lt(2n ** 32n + 1n), 'fixed'), '+-.+')
    equal(changes([0, 1, 2], lt(0), 'fixed'), '...')
  })

  test('asks for the increase a second over a stretch of time', () => {
    const rule: Test = { kind: 'rate_gt', perSecond: 99_999, overNs: 200_000, offSamples: 2 }
    equal(changes([0, 10, 20, 30, 30, 30, 30, 30], rule, 'fixed'), '..+..-..')
  })

  test('takes an equal rate for no match, whatever the division would round it to', () => {
    const rule: Test = { kind: 'rate_gt', perSecond: 510_000, overNs: 99_999, offSamples: 1 }
    equal(changes([18, 18 + 51, 19 + 2 * 51], rule, 'fixed'), '..+')
  })

  test('sees a change, and no change behind a gap', () => {
    const rule: Test = { kind: 'change', offSamples: 2 }
    deepEqual(walkedEdges(column([7, 7, 8, 8, 8, null, 9, 9]), { tests: [rule] }), ['0@2+', '0@4-'])
  })

  test('divides values and increases', () => {
    const pair: TestSamples = [
      [1, 10],
      [3, 20],
      [9, 30],
      [10, 40],
      [11, 50],
    ]
    const of = (overSamples: number, value: number): Test => {
      return { kind: 'ratio_gt', value, to: 1, overSamples, onSamples: 1, offSamples: 1 }
    }
    deepEqual(walkedEdges(pair, { tests: [of(0, 0.2)] }), ['0@2+'])
    deepEqual(walkedEdges(pair, { tests: [of(1, 0.5)] }), ['0@2+', '0@3-'])
  })

  test('divides values below 0, and no decreases', () => {
    const samples: TestSamples = [
      [2, 1],
      [-2, 1],
      [3, -2],
    ]
    const rule: Test = { kind: 'ratio_lt', value: -1, to: 1, overSamples: 0, onSamples: 1, offSamples: 1 }
    const walk = { kind: 'f64', isCounter: false } as const
    deepEqual(walkedEdges(samples, { ...walk, tests: [rule] }), ['0@1+'])
    deepEqual(walkedEdges(samples, { ...walk, tests: [{ ...rule, overSamples: 1 }] }), [])
  })

  test('counts matches of a ratio in a row anew where either counter was reset', () => {
    const samples: TestSamples = [
      [0, 10],
      [0, 11],
      [0, 12],
      [0, 2],
      [0, 3],
      [0, 4],
      [0, 5],
    ]
    const rule: Test = { kind: 'ratio_lt', value: 1, to: 1, overSamples: 1, onSamples: 3, offSamples: 1 }
    deepEqual(walkedEdges(samples, { tests: [rule] }), ['0@6+'])
  })

  test('takes quantiles exactly', () => {
    const rule: Test = { kind: 'quantile_gt', quantile: 0.5, value: 5, overSamples: 3, offSamples: 1 }
    equal(changes([9, 9, 1, 1, 9, 9, 1, 1], rule, 'fixed'), '..+-.+.-')
  })

  test('sees that samples are absent', () => {
    const rule: Test = { kind: 'absent', forNs: 250_000 }
    deepEqual(walkedEdges(column([1, 2, null, null, 3, 4]), { tests: [rule] }), ['0@1+', '0@2-'])
    // The next sample comes just then.
    deepEqual(walkedEdges(column([1, 2, 3]), { tests: [{ kind: 'absent', forNs: 100_000 }] }), [])
  })

  test('takes numbers with fractions, which may fall', () => {
    const samples = column([0.5, -0.25, 1.5, 3.25])
    const walk = { kind: 'f64', isCounter: false } as const
    deepEqual(walkedEdges(samples, { ...walk, tests: [gt(1, 1)] }), ['0@2+'])
    deepEqual(walkedEdges(samples, { ...walk, tests: [dt('dt_lt', 0, 1)] }), ['0@1+', '0@2-'])
    deepEqual(walkedEdges(samples, { ...walk, tests: [inc(1)] }), ['0@2+'])
  })

  test('finds the same edges for any number of samples at a time, even in a small ring', () => {
    let value = 0
    const values = Array.from({ length: 500 }, (_, at) => {
      value = at % 97 === 96 ? at % 7 : value + ((at * 7919) % 23)
      return value
    })
    const tests = [gt(300, 3), lt(100, 2), inc(50), dt('dt_gt', 60, 5), dt('dt_lt', 30, 4)]
    const whole = walkedEdges(column(values), { tests })
    equal(whole.length > 40, true)
    for (const pieceSamples of [1, 2, 3, 7, 10]) {
      deepEqual(walkedEdges(column(values), { tests, pieceSamples, capacity: 16 }), whole)
    }
  })
})
