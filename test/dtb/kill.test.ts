import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Random, SEED } from '../../packages/sdk/test/random.ts'
import { until } from '../sonde-process.ts'
import { sondeRead, temporaryFolder } from './sonde-read.ts'

const ROUNDS = 3
const WRITER = fileURLToPath(new URL('writer-main.ts', import.meta.url))

test(`files of a writer that was killed with -9 verify up to their tail, and have all that was acknowledged (seed ${SEED})`, async (t) => {
  const random = new Random(SEED)
  for (let round = 0; round < ROUNDS; round++) {
    const dir = temporaryFolder(t)
    const acknowledged = await killedWriter(dir, random)
    const { code, stdout, stderr } = sondeRead(dir, '--verify')
    assert.equal(code, 0, stdout + stderr)
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    // The next file is made while the one before takes its last block: it may still be empty.
    if (rows.at(-1).bytes === 0) rows.pop()
    // Every file but the last was closed; that one ends anywhere.
    assert.ok(
      rows.slice(0, -1).every(({ state }) => state === 'ended'),
      stdout,
    )
    assert.ok(['open', 'truncated', 'ended'].includes(rows.at(-1).state), stdout)
    const ports = sondeRead(dir, '--type', 'port').stdout.trimEnd().split('\n')
    assert.ok(ports.length >= acknowledged, `${ports.length} of ${acknowledged} that were acknowledged`)
    // Each once, in order, none torn: the counter falls by one a record.
    for (const [i, line] of ports.entries())
      assert.ok(line.includes(`"rx_bytes_total":${2n ** 64n - 1n - BigInt(i)},`), line)
  }
})

/** Lets a writer write for a moment, and ends it. Gives what it had acknowledged by then. */
async function killedWriter(dir: string, random: Random): Promise<number> {
  const args = [
    '--conditions=source',
    '--disable-warning=ExperimentalWarning',
    WRITER,
    dir,
    String(random.integer(5000, 200_000)),
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let told = ''
  child.stdout.on('data', (chunk: Buffer) => {
    told += chunk.toString()
  })
  const closed = once(child, 'close')
  await until('the first acknowledgement', 60_000, () => told.includes('\n'))
  // The moment is what is random here.
  await sleep(random.integer(0, 300))
  child.kill('SIGKILL')
  await closed
  return Number(told.trimEnd().split('\n').at(-1))
}
