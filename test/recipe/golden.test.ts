import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseExposition } from '../../packages/sdk/test/parse-exposition.ts'
import { needs } from '../debian.ts'
import { valueAt, waveOf } from '../doubles/doca/wave.ts'
import { startSonde, until } from '../sonde-process.ts'
import { doubledNode } from './recipe.ts'

// What the recipe's metrics look like, all of them. Where a change is meant, this renews the files:
// SONDE_GOLDEN=renew npm test -- recipe/golden

const FORMATS = { text: 'text/plain;version=0.0.4', openmetrics: 'application/openmetrics-text;version=1.0.0' } as const
/** Names of counters from the recipe that do not end as the linter demands. */
const GIVEN_NAMES = ['doca_adp_retx_packets', 'doca_diag_link_errors', 'doca_pci_rx_bytes', 'doca_pci_tx_bytes']
const ICMC_HITS = 0x1180_0002_0000_0000n
const END_SECONDS = 11

/** What depends on how often it was sampled has no value here. */
const CHANGING = /^doca_diag_sampling_(samples_total|drain_cpu_ratio)\{/
/** A device is used at 0 % when its clock stands still. The sample in which the clock jumps has no ratio. */
const UNUSED = /^doca_pci_[rt]x_utilisation_ratio\{.*\} 0$/gm
const UNUSED_COUNT = 4

/** Which device is read first is not fixed. */
function byDevice(lines: readonly string[]): string[] {
  const deviceOf = (line: string) => /device="([^"]*)"/.exec(line.startsWith('#') ? '' : line)?.[1] ?? ''
  return lines.toSorted((a, b) => deviceOf(a).localeCompare(deviceOf(b)))
}

/** The families of DOCA by name, without padding. */
function familiesOf(page: string): string[] {
  const [first = ''] = page.match(/^# \w+ /) ?? []
  return page
    .replace('# EOF\n', '')
    .split(new RegExp(`^(?=${first})`, 'm'))
    .filter((family) => /^# \w+ doca_/.test(family))
    .sort()
    .flatMap((family) => byDevice(family.trimEnd().split('\n')))
    .map((line) => (CHANGING.test(line) ? line.replace(/ \S+$/, ' *') : line.replace(/ 0+(?=\d)/, ' ')))
}

test('the metrics of the recipe are those of the golden files, and sound', needs('cc', 'promtool'), async (t) => {
  const { flags, env, setSeconds } = doubledNode(t)
  const sonde = await startSonde(['agent', ...flags], {
    env: { ...env, NODE_NAME: 'gpu-17', TELEMETRY_INTERVAL_MS: '100', ENABLE_DIAG: '1' },
  })
  t.after(() => sonde.stop())
  const pageOf = async (accept: string) => (await fetch(`${sonde.address}/metrics`, { headers: { accept } })).text()
  const shows = async (expected: readonly string[]) => {
    const lines = new Set(familiesOf(await pageOf(FORMATS.text)))
    return expected.every((line) => lines.has(line))
  }
  const packets = (device: string, value: number) =>
    `doca_adp_retx_packets{device="${device}",origin="timeouts",simulated="true",node="gpu-17"} ${value}`
  const hits = (device: string, seconds: number) =>
    `doca_diag_icmc_hits_total{rdma_device="${device}",simulated="true",node="gpu-17"} ${valueAt(waveOf(ICMC_HITS), BigInt(seconds) * 1_000_000_000n)}`
  const lines = (first: number, second: number, seconds: number) => [
    packets('mlx5_0', first),
    packets('mlx5_1', second),
    hits('mlx5_0', seconds),
    hits('mlx5_1', seconds),
  ]
  await until('both devices to be read', 60_000, () => shows(lines(0, 0, 1)))
  setSeconds(END_SECONDS)
  await until('ten seconds to be counted', 60_000, () => shows(lines(1070, 10, END_SECONDS)))
  for (const [format, accept] of Object.entries(FORMATS)) {
    const file = new URL(`golden/doca.${format}.txt`, import.meta.url)
    const isRenewed = process.env.SONDE_GOLDEN === 'renew'
    const wanted = readFileSync(file, 'utf8').split('\n')
    let missing: readonly string[] = []
    // A slow machine reads some facts later.
    const page = await until(
      () => `a sample after the jump, without ${missing.join('\n')}`,
      60_000,
      async () => {
        const found = await pageOf(accept)
        const shown = new Set(['', ...familiesOf(found)])
        missing = isRenewed ? [] : wanted.filter((line) => !shown.has(line))
        return missing.length === 0 && found.match(UNUSED)?.length === UNUSED_COUNT && found
      },
    )
    parseExposition(new TextEncoder().encode(page), format as keyof typeof FORMATS)
    const found = `${familiesOf(page).join('\n')}\n`
    if (isRenewed) writeFileSync(file, found)
    const extra = found.split('\n').filter((line) => !isRenewed && !wanted.includes(line))
    assert.deepEqual(extra, [], `${format} has more`)
    if (!isRenewed) assert.equal(found, wanted.join('\n'), 'the lines are in another order')
  }
  const linted = spawnSync('promtool', ['check', 'metrics'], { input: await pageOf(FORMATS.text), encoding: 'utf8' })
  assert.deepEqual(
    (linted.stdout + linted.stderr).trim().split('\n').sort(),
    GIVEN_NAMES.map((name) => `${name} counter metrics should have "_total" suffix`),
  )
})
