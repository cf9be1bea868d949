import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import {
  counter,
  createFiles,
  createSource,
  defineType,
  type FilesOptions,
  label,
  optional,
  type Source,
  text,
  timestamp,
  value,
} from '@sonde/sdk'
import { SONDE } from '../sonde-program.ts'

/** How `sonde read` is started: program and arguments. */
export const SONDE_READ: readonly [string, ...string[]] = [...SONDE, 'read']

/** Runs `sonde read` to its end. */
export function sondeRead(...args: readonly string[]): { code: number | null; stdout: string; stderr: string } {
  const [program, ...before] = SONDE_READ
  const { status, stdout, stderr } = spawnSync(program, [...before, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    timeout: 60_000,
  })
  return { code: status, stdout, stderr }
}

/** Starts `sonde read`; it is ended with the test. */
export function startRead(t: TestContext, ...args: readonly string[]) {
  const [program, ...before] = SONDE_READ
  const child = spawn(program, [...before, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    text += `stderr: ${chunk}`
  })
  const ended = new Promise<number | string>((resolve) =>
    child.once('close', (code, signal) => resolve(signal ?? code ?? -1)),
  )
  return { child, ended, lines: () => text.split('\n').slice(0, -1) }
}

/** A folder that is removed with the test. */
export function temporaryFolder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-read-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** The files of records below a folder, in the order of their paths. */
export function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.bin'))
    .sort()
    .map((path) => join(dir, path))
}

/** Two types that the tests write. */
const port = defineType('port', 'A port', {
  time: timestamp(),
  device: label(),
  rx_bytes_total: counter('u64'),
  fill: optional(value('f64')),
  state: text(),
})
/** See {@link port}. */
const step = defineType('step', 'A step', { timestamp: timestamp('us'), loss: value('f32') })

/** When the first record was made. Unit: nanoseconds since the Unix epoch. */
const FIRST_NS = 1_790_000_000_000_000_000n

/** Writes `count` ports, a second apart, and a step every tenth, of each of the sources, in files. */
export async function writePorts(
  dataRoot: string,
  count: number,
  sources: readonly { id: string; tag?: string; labels?: Record<string, string> }[] = [{ id: 'node1' }],
  options: FilesOptions = {},
): Promise<void> {
  const sink = createFiles({ ...options, dataRoot })
  for (const each of sources) {
    const source = createSource({ ...each, emit: (batch) => sink.accept(batch) })
    for (let i = 0; i < count; i++) reportPort(source, i)
    await source.close()
    await sink.flush()
  }
  await sink.close()
}

/** One of the records that {@link writePorts} writes. */
export function reportPort(source: Source, i: number): void {
  const time = FIRST_NS + BigInt(i) * 1_000_000_000n
  const rest = i % 2 === 0 ? {} : { fill: i / 8 }
  source.report(port, {
    time,
    device: `eth${i % 2}`,
    rx_bytes_total: 2n ** 64n - 1n - BigInt(i),
    state: 'a "b",c',
    ...rest,
  })
  if (i % 10 === 0) source.report(step, { timestamp: time / 1000n, loss: i })
}
