import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lostMsOf, type Readings, shortageWords } from './shortage.ts'

/** Readings at 0 and after five seconds: in the second what a process had meanwhile. */
const stretch = (had: Partial<Readings>, lateMs = 0) => ({
  before: { atMs: 0, pid: 7, threads: { runMs: 0, waitMs: 0 }, pressureMs: 0, throttledMs: 0, ...absentOf(had) },
  after: { atMs: 5000, pid: 7, ...had },
  lateMs,
})
const absentOf = (had: Partial<Readings>) =>
  Object.fromEntries(Object.entries(had).flatMap(([key, value]) => (value === undefined ? [[key, undefined]] : [])))

const none = undefined as unknown as Readings['threads'] & {}
const CASES: readonly [what: string, stretch: Parameters<typeof lostMsOf>[0], lostMs: number, words?: RegExp][] = [
  ['a hung call on an idle machine', stretch({ threads: { runMs: 10, waitMs: 5 }, pressureMs: 100 }), 5],
  ['a hung call beside others that wait', stretch({ threads: { runMs: 10, waitMs: 50 }, pressureMs: 4900 }), 50],
  [
    'a machine that is busy',
    stretch({ threads: { runMs: 400, waitMs: 4500 }, pressureMs: 4900 }),
    4500,
    /^waits for a processor: pressure 98 %, process 7 ran 0\.4 s and waited 4\.5 s of the last 5\.0 s$/,
  ],
  [
    'many threads that wait at once',
    stretch({ threads: { runMs: 400, waitMs: 40_000 }, pressureMs: 9000 }),
    5000,
    /pressure 100 %, process 7 ran 0\.4 s and waited 5\.0 s/,
  ],
  [
    'a limit of the control group',
    stretch({ threads: { runMs: 50, waitMs: 4900 }, throttledMs: 4800 }),
    4900,
    /held back by its limit \(cpu\.max\) for 4\.8 s, process 7 ran 0\.1 s/,
  ],
  ['no account of threads, but a limit', stretch({ threads: none, throttledMs: 4000, pressureMs: 100 }), 4000],
  ['nothing but pressure', stretch({ threads: none, throttledMs: none as never, pressureMs: 4900 }), 4900],
  ['nothing at all', { before: { atMs: 0, pid: 7 }, after: { atMs: 5000, pid: 7 }, lateMs: 0 }, 0],
  ['nothing but timers that came late', stretch({}, 3000), 3000, /timers of Sonde came 3\.0 s late/],
  ['a process that is stopped', stretch({ isStopped: true }), 5000, /^process 7 is stopped, .*kill -CONT 7/],
  ['threads that ended', stretch({ threads: { runMs: -5, waitMs: -100 } }), 0],
]

for (const [what, given, lostMs, words] of CASES) {
  test(`of ${what}, ${lostMs} of 5000 ms do not count`, () => {
    assert.equal(lostMsOf(given), lostMs)
    if (words !== undefined) assert.match(shortageWords(given), words)
  })
}
