import assert from 'node:assert/strict'
import { test } from 'node:test'
import { big, gt, RX, rulesOf, TestFolder } from './test-run.ts'

const MIB = 1024 * 1024

/** Samples that switch between two values, each held for so many. */
function* switching(count: number, heldSamples: number): Iterable<bigint> {
  for (let index = 0; index < count; index++) yield Math.floor(index / heldSamples) % 2 === 0 ? 1n : 11n
}

test("the guide's example on a busy port stays within its disk, and says what it left out", async (t) => {
  const folder = new TestFolder(t)
  const rule = { name: 'burst', data_id: RX, comparison_type: 'dt_gt', comparison_value: 1_048_576 }
  folder.rules(rulesOf([rule], { sample_history_depth: 10_000 }))
  // 40 s of a port that always receives 5 GB/s.
  folder.samples(
    Array.from({ length: 400_000 }, (_, index) => BigInt(index) * 500_000n),
    {
      startS: 1_790_000_015,
    },
  )
  const { code, said } = await folder.run({
    logBytes: String(4 * MIB),
    logFiles: '6',
    maxEventS: '10',
    eventsPerMinute: '2',
  })
  assert.equal(code, 0)
  const sizes = folder.sizes('events.log')
  assert.equal(sizes.length, 6)
  assert.ok(Math.max(...sizes) <= 4 * MIB, `${sizes}`)
  const names = [5, 4, 3, 2, 1].map((number) => `events.log.${number}`)
  const log = [...names, 'events.log'].flatMap((name) =>
    folder.lines(name).filter((line) => !line.startsWith('sample')),
  )
  const has = (row: RegExp) =>
    assert.ok(
      log.some((line) => row.test(line)),
      `${row}\n${log.join('\n')}`,
    )
  has(/^end,.*,1,"burst",cut$/)
  has(/^start,.*,2,"burst",continues 1$/)
  // A third event of the first minute is counted alone; the next minute goes on with it.
  has(/^note,.*,limit,"events beyond the limit of a minute, left out: 1 of ""burst"""$/)
  has(/^start,.*,3,"burst",late$/)
  assert.ok(
    said.some((line) => /left out by limits: 1 event, \d+ samples, 0 notes/.test(line)),
    said.join('\n'),
  )
  assert.ok(said.some((line) => /removed by --log-files: \d+ files? with \d+ bytes/.test(line)))
})

test('an event beyond its bytes is cut and continued', async (t) => {
  const folder = new TestFolder(t)
  folder.rules(rulesOf([gt(10, { activate_samples: 1 })]))
  folder.samples(Array.from({ length: 40_000 }, () => 11n))
  await folder.run({ maxEventBytes: '300000' })
  const ends = folder.rows('end').map((row) => row.split(',').at(-1))
  assert.ok(ends.length >= 4 && ends.slice(0, -1).every((reason) => reason === 'cut'), `${ends}`)
  assert.equal(ends.at(-1), 'end_of_samples')
  assert.equal(folder.rows('sample').length, 40_000, 'none is lost between two of them')
})

test('a rule that begins all the time is limited, and each event is in the log or counted', async (t) => {
  const folder = new TestFolder(t)
  folder.rules(rulesOf([gt(10, { activate_samples: 1, deactivate_samples: 1 })]))
  folder.samples(switching(20_000, 10))
  const { said } = await folder.run({ eventsPerMinute: '50' })
  assert.equal(folder.rows('start').length, 50)
  assert.equal(folder.rows('end').length, 50)
  const left = folder.rows('note').find((row) => row.includes(',limit,'))
  assert.match(left ?? '', /left out: 950 of ""r0""/)
  assert.ok(said.some((line) => line.includes('left out by limits: 950 events')))
})

test('a device that skips all the time fills no log with gaps', async (t) => {
  const folder = new TestFolder(t)
  folder.rules(rulesOf([gt(10)]))
  const skippedBefore = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [index + 1, 1]))
  folder.samples(
    Array.from({ length: 2001 }, () => 1n),
    { skippedBefore },
  )
  const { said } = await folder.run()
  assert.equal(folder.rows('note').filter((row) => row.includes(',gap,')).length, 600)
  assert.ok(
    folder.rows('note').some((row) => row.includes('notes beyond the limit of a minute, left out: 1400 of ""gap""')),
  )
  assert.ok(said.some((line) => line.includes('2000 gaps with 2000 missing samples')))
})

test('rules that are active at once share the samples, and each has its event', async (t) => {
  const folder = new TestFolder(t)
  folder.rules(
    rulesOf([
      gt(10, { name: 'a', activate_samples: 1, deactivate_samples: 1 }),
      gt(20, { name: 'b', activate_samples: 1, deactivate_samples: 1 }),
      { name: 'both', data_id: undefined, comparison_type: 'all_of', rules: ['a', 'b'], within_ms: 0.3 },
      { name: 'any', data_id: undefined, comparison_type: 'any_of', rules: ['a', 'b'] },
    ]),
  )
  folder.samples(big(1, 11, 11, 21, 11, 1, 11, 11, 11, 11, 11, 21, 1))
  await folder.run()
  const words = folder
    .lines()
    .flatMap((line) => /^(start|end),[^,]*,[^,]*,(\d+),"(\w+)"/.exec(line)?.slice(1).join(' ') ?? [])
  assert.deepEqual(words, [
    'start 1 a',
    'start 2 any',
    'start 3 b',
    'start 4 both',
    'end 3 b',
    'end 4 both',
    'end 1 a',
    'end 2 any',
    'start 5 a',
    'start 6 any',
    // "b" began 0.5 ms behind "a": too late for "both".
    'start 7 b',
    'end 5 a',
    'end 7 b',
    'end 6 any',
  ])
})

test('a rule of absence begins where samples are late, at the time when they were', async (t) => {
  const folder = new TestFolder(t)
  folder.rules(rulesOf([{ comparison_type: 'absent', absent_ms: 0.5 }]))
  folder.samples(big(1, 1, 1), { skippedBefore: { 2: 9 } })
  await folder.run()
  const [start] = folder.rows('start')
  assert.ok(start?.startsWith('2026-09-21T14:13:20.000600000Z,'), start)
  assert.equal(folder.rows('end').length, 1)
})

test('with --compat a file of rules has a bound too, and says it', async (t) => {
  const folder = new TestFolder(t)
  folder.samples(big(1))
  folder.rules(`${JSON.stringify(rulesOf([gt(1)]))}${' '.repeat(4 * MIB)}`)
  const { code, said } = await folder.run({ compat: true })
  assert.equal(code, 1)
  assert.match(said.at(-1) ?? '', /rules\.json is larger than 4194304 bytes$/)
})

test('ten thousand rules are refused with the number that is allowed; with --compat they run', async (t) => {
  const folder = new TestFolder(t)
  const rules = Array.from({ length: 10_000 }, (_, index) => gt(index + 1, { name: `above ${index + 1}` }))
  folder.rules(rulesOf(rules))
  folder.samples(Array.from({ length: 100 }, () => 5000n))
  const strict = await folder.run()
  assert.equal(strict.code, 2)
  assert.match(strict.said.join('\n'), /rules is a list of 10000; allowed: a list of 1 to 1024 rules$/)
  const { code, said } = await folder.run({ compat: true })
  assert.equal(code, 0, said.join('\n'))
  assert.equal(folder.lines().filter((line) => /^<<Event start>>.*"above \d+"$/.test(line)).length, 4999)
})
