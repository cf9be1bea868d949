// The defects of the reference application, by their numbers in docs/traceback.md, and what happens here instead. Those
// of the device itself are tested where devices are opened.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { ringFor } from '../../packages/agent/src/traceback/run/ring-for.ts'
import { big, gt, RX, rulesOf, TestFolder, TX } from './test-run.ts'

const stamp = (index: number) => String((1_790_000_000n << 32n) | BigInt(index * 100_000))
const at = (index: number) => `2026-09-21T14:13:20.${String(index * 100_000).padStart(9, '0')}Z`
const sample = (index: number, value: number) => `${at(index)},${stamp(index)},${value}`

test('defect 1: samples that were skipped are a gap in the log, and nothing ends', async (t) => {
  const folder = new TestFolder(t)
  folder.rules(rulesOf([gt(10, { activate_samples: 3 })]))
  folder.samples(big(11, 11, 11, 11, 11, 1), { skippedBefore: { 2: 7 } })
  const { code, said } = await folder.run()
  assert.equal(code, 0)
  assert.ok(folder.rows('note').includes(`${at(9)},${stamp(9)},gap,"7 samples are missing before this one"`))
  // Two matches before the gap do not count.
  assert.deepEqual(folder.rows('start'), [`${at(11)},${stamp(11)},1,"r0",`])
  assert.ok(said.some((line) => line.includes('1 gap with 7 missing samples')))
})

test('defect 1: with --compat skipped samples end it, with exit code 1', async (t) => {
  const folder = new TestFolder(t)
  folder.rules(rulesOf([gt(10, {})]))
  folder.samples(big(1, 11, 11, 1, 1), { skippedBefore: { 4: 7 } })
  const { code, said } = await folder.run({ compat: true })
  assert.equal(code, 1)
  assert.match(said.at(-1) ?? '', /the device skipped samples, which ends the reference application/)
  assert.equal(folder.text().split('<<Event start>>').length, 2)
})

test('defects 3 and 4: times are nanoseconds since the epoch, of both words of one stamp', async (t) => {
  const folder = new TestFolder(t)
  folder.rules(rulesOf([gt(10, { activate_samples: 1 })]))
  folder.samples(big(11, 11))
  await folder.run()
  assert.deepEqual(folder.rows('sample'), [sample(0, 11), sample(1, 11)])
  await folder.run({ format: 'jsonl' })
  const rows = folder.lines().map((line) => JSON.parse(line))
  assert.deepEqual(
    rows.find(({ row }) => row === 'sample'),
    { row: 'sample', time: at(0), time_ns: '1790000000000000000', device_stamp: stamp(0), values: ['11'] },
  )
})

test('defect 6: a ring holds as many values a sample as there are data IDs, and no eightfold of them', () => {
  const signals = (count: number) =>
    Array.from({ length: count }, () => ({ name: '', type: '', field: '', labels: {} }))
  const bytesOf = (values: number) =>
    ringFor({ samplePeriodNs: 1, historySamples: 100, signals: signals(values), rules: [] }, 1).words.byteLength
  const [one, two, many] = [bytesOf(1), bytesOf(2), bytesOf(64)]
  assert.equal((many - one) / (two - one), 63)
  const capacity = (two - one) / 8
  assert.equal(many, capacity * (32 + 64 * 8))
})

test('defect 7: a device that lengthens the period is watched, and the log says its period', async (t) => {
  const folder = new TestFolder(t)
  folder.rules(rulesOf([gt(10)]))
  folder.samples(big(11, 11), { samplePeriodNs: 200_000 })
  const { code, said } = await folder.run()
  assert.equal(code, 0)
  assert.ok(said.some((line) => /samples every 200000 ns, not 100000 ns/.test(line)))
  assert.ok(folder.lines().includes('# sample period: 200000 ns'))
  assert.equal((await folder.run({ compat: true })).code, 1)
  assert.equal(folder.text(), '', 'the reference truncates its log and then refuses')
})

test('defect 8: a device that runs free is watched by the clock of the host, and the log says so', async (t) => {
  const folder = new TestFolder(t)
  folder.rules(rulesOf([gt(10, { activate_samples: 1 })]))
  folder.samples(big(11, 11), { clock: 'ticks' })
  assert.equal((await folder.run()).code, 0)
  assert.ok(folder.lines().includes('# clock: of the host; the device runs free'))
  assert.deepEqual(folder.rows('sample'), [`${at(0)},0,11`, `${at(1)},100000,11`])
  assert.equal((await folder.run({ compat: true })).code, 1)
})

test("defect 9: the guide's own example runs, whose depth is 10000", async (t) => {
  const folder = new TestFolder(t)
  const rule = { name: 'burst', data_id: RX, comparison_type: 'differential_greater_than', comparison_value: 1_048_576 }
  folder.rules(rulesOf([rule], { sample_history_depth: 10_000 }))
  folder.samples(Array.from({ length: 30_000 }, (_, index) => BigInt(index < 20_000 ? 0 : (index - 19_999) * 1000)))
  assert.equal((await folder.run()).code, 0)
  const [start] = folder.rows('start')
  assert.ok(start?.startsWith(`2026-09-21T14:13:22.104800000Z,`), start)
  assert.equal(folder.rows('sample').length, 20_000 + 30_000 - 21_049)
  assert.equal((await folder.run({ compat: true })).code, 1)
})

test('defect 10: no sample is in the log twice', async (t) => {
  const folder = new TestFolder(t)
  folder.rules(rulesOf([gt(10, { activate_samples: 1, deactivate_samples: 1 })], { sample_history_depth: 8 }))
  folder.samples(big(1, 1, 11, 1, 11, 11, 1, 1, 1, 11, 1))
  await folder.run()
  const rows = folder.rows('sample')
  assert.equal(new Set(rows).size, rows.length)
  assert.equal(rows.length, 11)
  assert.equal(folder.rows('start').length, 3)
})

test('defect 11: of one sample ends come before starts, whatever the order of the rules', async (t) => {
  const rules = [
    gt(10, { name: 'high', activate_samples: 1, deactivate_samples: 1 }),
    { name: 'low', comparison_type: 'lt', comparison_value: 10, activate_samples: 1, deactivate_samples: 1 },
  ]
  for (const order of [rules, rules.toReversed()]) {
    const folder = new TestFolder(t)
    folder.rules(rulesOf(order))
    folder.samples(big(11, 11, 1, 11))
    await folder.run()
    const kinds = folder.lines().flatMap((line) => /^(start|end),.*"(high|low)"/.exec(line)?.slice(1).join(' ') ?? [])
    assert.deepEqual(kinds.slice(0, 5), ['start high', 'end high', 'start low', 'end low', 'start high'])
  }
})

test('defects 13, 14 and 23: what is no number, no data ID or no period is refused, and nothing is written', async (t) => {
  const folder = new TestFolder(t)
  folder.samples(big(1))
  for (const [rules, fault] of [
    [
      rulesOf([gt(10)], { diag_sample_period_ns: 2 ** 32 }),
      /diag_sample_period_ns is 4294967296; allowed: a whole number from 1/,
    ],
    [rulesOf([gt(10)], { diag_sample_period_ns: 0 }), /diag_sample_period_ns is 0; allowed: a whole number from 1/],
    [rulesOf([gt(10)], { sample_history_depth: '64' }), /sample_history_depth is "64"; allowed: a whole number/],
    [rulesOf([gt(10, { data_id: 1020000100000000 })]), /rules\[0\]\.data_id is 1020000100000000; allowed: text of 0x/],
  ] as const) {
    folder.rules(rules)
    const { code, said } = await folder.run()
    assert.equal(code, 2)
    assert.match(said.join('\n'), fault)
  }
  assert.ok(!existsSync(folder.path('events.log')))
})

test('defect 15: names with commas, quotes and line breaks stay one cell, and one line of JSON', async (t) => {
  const folder = new TestFolder(t)
  const name = 'a,"b"\nc'
  folder.rules(rulesOf([gt(10, { name, activate_samples: 1 })], { 'data-ids': [{ name, data_id: RX }] }))
  folder.samples(big(11))
  await folder.run()
  assert.ok(folder.text().includes('\nrow,time,device_stamp,"a,""b""\nc"\n'))
  assert.ok(folder.text().includes(`start,${at(0)},${stamp(0)},1,"a,""b""\nc",\n`))
  await folder.run({ format: 'jsonl' })
  const rows = folder.lines().map((line) => JSON.parse(line))
  assert.equal(rows[0].signals[0].name, name)
  assert.equal(rows.find(({ row }) => row === 'start').rule, name)
})

test('defects 16 and 17: the log rotates, each file begins with head and columns, and the run before is kept', async (t) => {
  const folder = new TestFolder(t)
  folder.rules(rulesOf([gt(10, { activate_samples: 1 })]))
  writeFileSync(folder.path('events.log'), 'of the run before\n')
  folder.samples(Array.from({ length: 20_000 }, () => 11n))
  const { said } = await folder.run({ logBytes: '100000', logFiles: '4' })
  const sizes = folder.sizes('events.log')
  assert.equal(sizes.length, 4)
  assert.ok(Math.max(...sizes) <= 100_000, `${sizes}`)
  for (const name of ['events.log', 'events.log.1', 'events.log.2']) {
    assert.match(
      folder.text(name),
      /^# Sonde .*\n(# .*\n)+row,time,device_stamp,"rx"\nnote,[^\n]*,rotated,"this file continues/,
    )
  }
  assert.ok(said.some((line) => /removed by --log-files: \d+ files? with \d+ bytes/.test(line)))
  const again = new TestFolder(t)
  again.rules(rulesOf([gt(10)]))
  again.samples(big(1))
  writeFileSync(again.path('events.log'), 'of the run before\n')
  await again.run()
  assert.equal(again.text('events.log.1'), 'of the run before\n')
})

test('defect 17: --append goes on behind the log that is there, also behind half a row', async (t) => {
  const folder = new TestFolder(t)
  folder.rules(rulesOf([gt(10)]))
  folder.samples(big(1))
  writeFileSync(folder.path('events.log'), 'half a row')
  await folder.run({ append: true })
  assert.ok(folder.text().startsWith('half a row\n# Sonde '))
  assert.ok(!existsSync(folder.path('events.log.1')))
})

test('defect 18: resets and wraps are noted, and no rule fires falsely', async (t) => {
  const folder = new TestFolder(t)
  const rule = { comparison_type: 'dt_gt', comparison_value: 1000, delta_samples: 1 }
  folder.rules(rulesOf([rule]))
  folder.samples(big(5000, 5001, 3, 4, 5))
  await folder.run()
  assert.deepEqual(folder.rows('start'), [])
  assert.ok(folder.rows('note').includes(`${at(2)},${stamp(2)},reset,"""rx"" fell: its counter was reset"`))
  folder.samples([2n ** 32n - 10n, 5n, 6n])
  const { said } = await folder.run()
  assert.deepEqual(folder.rows('start'), [])
  assert.ok(folder.rows('note').some((row) => row.includes(',wrap,"""rx"" wrapped at 2^32"')))
  assert.ok(said.some((line) => line.includes('counters fell: 0 resets, 1 wrap')))
})

test('defect 19: history, window and hysteresis are set apart', async (t) => {
  const folder = new TestFolder(t)
  const rule = { comparison_type: 'dt_gt', comparison_value: 5, delta_samples: 1, deactivate_samples: 2 }
  folder.rules(rulesOf([rule], { sample_history_depth: 1 }))
  folder.samples(big(0, 0, 0, 10, 10, 10, 10))
  await folder.run()
  assert.deepEqual(folder.rows('sample'), [sample(2, 0), sample(3, 10), sample(4, 10), sample(5, 10)])
})

test('defects 20 and 21: all data IDs that are not there are told, in hexadecimal', async (t) => {
  const folder = new TestFolder(t)
  const ids = [
    { name: 'rx', data_id: RX },
    { name: 'tx', data_id: TX },
    { name: 'other', data_id: '0x11600001000000ff' },
  ]
  folder.rules(rulesOf([gt(1)], { 'data-ids': ids }))
  folder.samples(big(1))
  const { code, said } = await folder.run()
  assert.equal(code, 1)
  assert.match(said.at(-1) ?? '', /has no samples of 0x1140000100000000, 0x11600001000000ff$/)
})

test('defect 24: the exit codes are few; with --compat they are those of the reference', async (t) => {
  const folder = new TestFolder(t)
  folder.samples(big(1))
  const codes = async (flags: object) => [
    (await folder.run(flags)).code,
    (await folder.run({ ...flags, compat: true })).code,
  ]
  assert.deepEqual(await codes({ rules: folder.path('missing') }), [2, 16])
  folder.rules('')
  assert.deepEqual(await codes({}), [2, 6])
  folder.rules(' \n')
  assert.deepEqual(await codes({}), [2, 1])
  folder.rules(rulesOf([gt(1)]))
  assert.deepEqual(await codes({ device: undefined }), [2, 1])
  assert.deepEqual(await codes({ device: `file:${folder.path('missing')}` }), [1, 1])
  assert.deepEqual(await codes({ device: 'mlx5_99' }), [1, 1])
  assert.deepEqual(await codes({ eventLog: folder.path('missing/events.log') }), [1, 1])
  assert.deepEqual(await codes({ logLevel: '55' }), [2, 1])
  assert.deepEqual(await codes({}), [0, 0])
})

test('defect 25: a log that cannot be written ends it with exit code 1', async (t) => {
  const folder = new TestFolder(t)
  folder.rules(rulesOf([gt(1)]))
  folder.samples(big(2, 2, 2))
  for (const compat of [true, false]) {
    const { code, said } = await folder.run({ eventLog: '/dev/full', compat })
    assert.equal(code, 1)
    assert.match(said.at(-1) ?? '', /the events log \/dev\/full cannot be written: ENOSPC/)
  }
})

test('defect 27: null, a directory and a huge depth are refused with a sentence', async (t) => {
  const folder = new TestFolder(t)
  folder.samples(big(1))
  folder.rules(rulesOf([gt(1, { name: null })]))
  for (const compat of [true, false]) {
    const { code, said } = await folder.run({ compat })
    assert.equal(code, compat ? 1 : 2)
    assert.match(said.at(-1) ?? '', /rules\[0\]\.name is null/)
  }
  mkdirSync(folder.path('rules'))
  for (const compat of [true, false]) {
    const { code, said } = await folder.run({ rules: folder.path('rules'), compat })
    assert.equal(code, compat ? 1 : 2)
    assert.match(said.at(-1) ?? '', /is a directory/)
  }
  folder.rules(rulesOf([gt(1)], { sample_history_depth: 2 ** 30 }))
  const { code, said } = await folder.run({ compat: true })
  assert.equal(code, 1)
  assert.match(said.at(-1) ?? '', /take \d+ bytes; allowed: 1073741824/)
})
