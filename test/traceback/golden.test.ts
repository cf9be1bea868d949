import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { writeSamples } from '../../packages/agent/src/traceback/feed/test-samples.ts'
import { runTracebackCommand } from '../../packages/cli/src/commands/traceback/traceback.ts'

const ID = '0x1020000100000000'
const OTHER = '0x1140000100000000'
const W = 2n ** 64n

/**
 * Vectors of the rule engine that the real program reproduced: type, comparison value, depth, and samples with the
 * change that each reports.
 */
const VECTORS: readonly (readonly [type: string, value: number, depth: number, samples: string])[] = [
  ['inc_gt', 10, 4, '100 105 110+ 111- 119 120+ 131 150 151- 161+'],
  ['inc_gt', 0, 4, '5+ 5 4- 5+'],
  ['inc_gt', 10, 4, '100 111+ 50- 60 122+ 200'],
  ['gt', 10, 4, '11 11 11 10 11 11 11 11+ 50 10 10 10 11 10 10 10 10- 10'],
  ['gt', 10, 1, '11+ 5- 11+'],
  ['lt', 10, 2, '10 9 9+ 9 10 10-'],
  ['dt_gt', 10, 4, '0 0 0 0 0 11+ 11 11 11 11 11 11 11- 11'],
  ['dt_gt', 10, 4, '0 100 200 300 400+ 410 410 410 410 410 410 410- 410'],
  ['dt_lt', 10, 2, '0 100 200 205 206+ 207 300 400- 500 600'],
  ['dt_gt', 10, 2, '1000 1000 1000 5+ 5 5 5- 5'],
  ['dt_lt', 10, 2, '1000 1001 1002+ 1003 5 6- 7+ 8 9'],
  ['dt_gt', 10, 1, '0 11+ 22 23- 40+'],
  ['inc_gt', 10, 2, 'W-5+ W-4 3- 4 14+'],
  ['inc_gt', 10, 2, 'W-12 W-5 W-4 W-3 W-3 W-1+ 2- 3 4 12+'],
]

interface Run {
  readonly code: number
  readonly log: string
}

/** Runs the command over a file of samples. */
async function run(
  t: TestContext,
  rules: object,
  rows: readonly (readonly bigint[])[],
  more: object = {},
): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-traceback-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = (name: string) => join(folder, name)
  writeFileSync(path('rules.json'), JSON.stringify(rules))
  writeSamples(path('samples'), rows, { dataIds: [BigInt(ID), BigInt(OTHER)].slice(0, rows[0]?.length) })
  const code = await runTracebackCommand({
    device: `file:${path('samples')}`,
    rules: path('rules.json'),
    eventLog: path('events.log'),
    logLevel: '10',
    ...more,
  })
  return { code, log: readFileSync(path('events.log'), 'utf8') }
}

function rulesOf(rules: readonly object[], depth: number): object {
  return {
    diag_sample_period_ns: 100_000,
    sample_history_depth: depth,
    'data-ids': [
      { name: 'rx', data_id: ID },
      { name: 'tx', data_id: OTHER },
    ],
    rules,
  }
}

function oneRule(type: string, value: number, depth: number): object {
  const rules = [{ name: 'r', data_id: ID, comparison_type: type, comparison_value: value }]
  return { ...rulesOf(rules, depth), 'data-ids': [{ name: 'rx', data_id: ID }] }
}

/** Samples with the change that the log has behind each, in the form of {@link VECTORS}. */
function changesIn(log: string, samples: readonly string[], sampleOf: (row: string) => number | undefined): string {
  const changes = samples.map((sample) => sample.replace(/[+-]$/, ''))
  let last = -1
  for (const line of log.split('\n')) {
    last = sampleOf(line) ?? last
    if (/^(<<Event start|start,)/.test(line)) changes[last] += '+'
    if (/^(<<Event end|end,.*,cleared)/.test(line)) changes[last] += '-'
  }
  return changes.join(' ')
}

const valuesOf = (samples: readonly string[]) =>
  samples.map((text) => {
    const plain = text.replace(/[+-]$/, '')
    return [plain.startsWith('W') ? W - BigInt(plain.slice(2)) : BigInt(plain)]
  })

for (const [type, value, depth, text] of VECTORS)
  test(`--compat: ${type} ${value}, depth ${depth}, over ${text}`, async (t) => {
    const samples = text.split(' ')
    const { code, log } = await run(t, oneRule(type, value, depth), valuesOf(samples), { compat: true })
    assert.equal(code, 0)
    const sampleOf = (row: string) => {
      const stamp = /^(\d+), \d+$/.exec(row)?.[1]
      return stamp === undefined ? undefined : Number(BigInt(stamp) & 0xffff_ffffn) / 100_000
    }
    assert.equal(changesIn(log, samples, sampleOf), text)
  })

test('--compat: the log is that of the reference, byte for byte', async (t) => {
  const rules = [
    { name: 'A', data_id: ID, comparison_type: 'gt', comparison_value: 10 },
    { name: 'B, "quoted"', data_id: OTHER, comparison_type: 'inc_gt', comparison_value: 5 },
  ]
  const rows = [
    [1n, 0n],
    [11n, 0n],
    [11n, 1n],
    [1n, 2n],
    [1n, 5n],
    [1n, 6n],
  ]
  const { log } = await run(t, rulesOf(rules, 2), rows, { compat: true, docaVersion: '3.2.0025' })
  const stamp = (index: number) => (1_790_000_000n << 32n) | BigInt(index * 100_000)
  const row = (index: number) => `${stamp(index)}, ${rows[index]?.join(', ')}\n`
  const device = /Device: "(.*)"/.exec(log)?.[1]
  assert.equal(
    log,
    `Telemetry monitor : 3.2.0025
Configuration: 
\tDevice: "${device}"
\tSample history depth: 2
\tDiag sample period: 100000ns
\tData IDs: [
\t\t{
\t\t\tName: "rx",
\t\t\tData ID: 0x1020000100000000
\t\t},
\t\t{
\t\t\tName: "tx",
\t\t\tData ID: 0x1140000100000000
\t\t},
\t]
\tRules: [
\t\t{
\t\t\tName: "A",
\t\t\tData ID: 0x1020000100000000
\t\t\tComparison type: greater_than
\t\t\tComparison value: 10
\t\t},
\t\t{
\t\t\tName: "B, "quoted"",
\t\t\tData ID: 0x1140000100000000
\t\t\tComparison type: incremental
\t\t\tComparison value: 5
\t\t},
\t]


timestamp, rx, tx
${row(0)}${row(1)}${row(2)}<<Event start>> Time: 2026-09-21T14:13:20Z, Rule: "A"
${row(3)}${row(4)}<<Event end>> Time: 2026-09-21T14:13:20Z, Rule: "A"
timestamp, rx, tx
${row(1)}${row(2)}${row(3)}${row(4)}<<Event start>> Time: 2026-09-21T14:13:20Z, Rule: "B, "quoted""
${row(5)}<<Event end>> Time: 2026-09-21T14:13:20Z, Rule: "B, "quoted""
`,
  )
})

/** Vectors in which no counter falls or wraps, on which both arithmetics agree. */
for (const [type, value, depth, text] of VECTORS.slice(0, 1).concat(VECTORS.slice(3, 9), VECTORS.slice(11, 12)))
  test(`${type} ${value}, depth ${depth}, over ${text}`, async (t) => {
    const samples = text.split(' ')
    const { code, log } = await run(t, oneRule(type, value, depth), valuesOf(samples))
    assert.equal(code, 0)
    const sampleOf = (row: string) => {
      const ns = /^sample,[^,]*\.(\d{9})Z,/.exec(row)?.[1]
      return ns === undefined ? undefined : Number(ns) / 100_000
    }
    assert.equal(changesIn(log, samples, sampleOf), text)
  })
