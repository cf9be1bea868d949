import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { readFiles } from './files-rig.ts'
import { until } from './helper.ts'
import type { Random } from './random.ts'

/** The command line of a writer in a process of its own, but for scenario and root. */
export const FILES_CHILD: readonly string[] = [
  process.execPath,
  '--conditions=source',
  '--disable-warning=ExperimentalWarning',
  fileURLToPath(new URL('files-main.ts', import.meta.url)),
]

interface ChildReport {
  readonly flushed?: number
  readonly acknowledged?: number
}

/** Kills a writer somewhere: everything that was flushed must be in its files, whole, once and in order. */
export async function killWriter(root: string, random: Random): Promise<void> {
  const enough = random.integer(1, 20_000)
  const { flushed = 0 } = await killChild('kill', [root, compression(random)], ({ flushed = 0 }) => flushed >= enough)
  const files = readFiles(join(root, 'data'))
  const numbers = files.flatMap(({ batches }) => batches.flatMap(({ records }) => records.map(numberOf)))
  assert.ok(numbers.length >= flushed, `${numbers.length} of ${flushed}`)
  assert.ok(numbers.every((number, i) => number === i))
  const states = files.map(({ end }) => end.state)
  assert.ok(
    states.slice(0, -2).every((state) => state === 'ended'),
    states.join(),
  )
  assert.notEqual(states.at(-1), 'damaged')
}

/**
 * Kills a service four times, each time somewhere, and sends the one that comes after it pages from before the last
 * that was acknowledged on: each must be there once, and all of them. Gives how many pages there were.
 */
export async function killServices(root: string, random: Random): Promise<number> {
  let last = 0
  for (let round = 0; round < 4; round++) {
    const enough = last + random.integer(1, 400)
    const from = Math.max(1, last - random.integer(0, 30))
    const report = await killChild(
      'pages',
      [root, `${from}`, compression(random)],
      ({ acknowledged = 0 }) => acknowledged >= enough,
    )
    last = report.acknowledged ?? last
  }
  const batches = readFiles(join(root, 'data')).flatMap(({ batches }) => batches)
  for (const client of [1n, 2n, 3n]) {
    const own = batches.filter(({ page }) => page?.client === client)
    const numbers = own.flatMap(({ records }) => records.map(numberOf)).sort((a, b) => a - b)
    assert.ok(numbers.length >= last, `${numbers.length} of ${last}`)
    assert.deepEqual(
      numbers,
      Array.from({ length: numbers.length }, (_, i) => i + 1),
    )
  }
  return last * 3
}

/** A kill may also come while a file is compressed, and after a process that compressed none. */
function compression(random: Random): string {
  return random.chance(0.7) ? 'deflate' : 'none'
}

/** Runs a scenario until its reports are enough, then kills it. Returns the newest value of each reported field. */
async function killChild(
  scenario: string,
  args: readonly string[],
  isEnough: (report: ChildReport) => boolean,
): Promise<ChildReport> {
  const [command = '', ...flags] = FILES_CHILD
  const child = spawn(command, [...flags, scenario, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let report: ChildReport = {}
  createInterface({ input: child.stdout }).on('line', (line) => {
    report = { ...report, ...JSON.parse(line) }
  })
  try {
    await until('the child writes', () => isEnough(report) || child.exitCode !== null)
  } finally {
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  return report
}

function numberOf(record: Readonly<Record<string, unknown>>): number {
  return Number(record.rx_bytes_total)
}
