// A writer of files in a process of its own: `files-main.ts SCENARIO ROOT`. It tells what it saw as lines of JSON.
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createFiles, type FilesOptions, type FilesSink } from '../src/index.ts'
import { BatchSource } from './sink-records.ts'

const [, , scenario = '', root = ''] = process.argv
const source = new BatchSource({ id: 'child' })

function tell(what: object): void {
  process.stdout.write(`${JSON.stringify(what)}\n`)
}

function open(options: FilesOptions): FilesSink {
  return createFiles({ dataRoot: join(root, 'data'), durability: 'none', ...options })
}

/** Gives the sink batches of ports whose values count on from `from`. */
function give(sink: FilesSink, from: number, batches: number, ports: number): void {
  for (let batch = 0; batch < batches; batch++) {
    const entries = Array.from({ length: ports }, (_, port) => [`port${port}`, from + batch * ports + port])
    sink.accept(source.ports(Object.fromEntries(entries)))
  }
}

async function flushed(sink: FilesSink): Promise<string> {
  return sink.flush().then(
    () => 'kept',
    (error: { code?: string }) => error.code ?? String(error),
  )
}

function seen(sink: FilesSink): object {
  const { stats, failing, queuedRecords } = sink
  return { in: stats.in, out: stats.out, dropped: Object.fromEntries(stats.dropped), failing, queuedRecords }
}

/** A disk that fills up while records come, and has room again. */
async function diskFull(): Promise<void> {
  const sink = open({ maxBytes: 65_536 })
  give(sink, 0, 1, 10)
  tell({ at: 'room', flush: await flushed(sink), ...seen(sink) })
  let filler = 0
  try {
    for (;;) writeFileSync(join(root, `filler${filler++}`), Buffer.alloc(4096))
  } catch {
    tell({ at: 'filled', files: filler })
  }
  give(sink, 10, 20, 100)
  tell({ at: 'full', flush: await flushed(sink), ...seen(sink) })
  for (let i = 0; i < filler; i++) rmSync(join(root, `filler${i}`), { force: true })
  await pause(1100)
  give(sink, 5000, 1, 10)
  tell({ at: 'again', flush: await flushed(sink), ...seen(sink) })
  await sink.close()
}

/** A file system that becomes read-only, and writable again. */
async function readOnly(): Promise<void> {
  const sink = open({ maxBytes: 4096 })
  give(sink, 0, 1, 10)
  tell({ at: 'room', flush: await flushed(sink), ...seen(sink) })
  await sink.close()
  execFileSync('mount', ['-o', 'remount,ro', root])
  const second = open({ maxBytes: 4096 })
  give(second, 10, 5, 100)
  tell({ at: 'readonly', flush: await flushed(second), ...seen(second) })
  execFileSync('mount', ['-o', 'remount,rw', root])
  await pause(1100)
  give(second, 5000, 1, 10)
  tell({ at: 'again', flush: await flushed(second), ...seen(second) })
  await second.close()
}

/** The process may not write files beyond a size that is less than `maxBytes`. */
async function fileLimit(): Promise<void> {
  const sink = open({ maxBytes: 1 << 20 })
  give(sink, 0, 100, 100)
  tell({ at: 'limit', flush: await flushed(sink), ...seen(sink) })
  give(sink, 10_000, 1, 4000)
  tell({ at: 'large', flush: await flushed(sink), ...seen(sink) })
  give(sink, 20_000, 1, 10)
  tell({ at: 'small', flush: await flushed(sink), ...seen(sink) })
  await sink.close()
}

/** A root that may not be written to. */
async function denied(): Promise<void> {
  const sink = createFiles({ dataRoot: root, durability: 'none' })
  give(sink, 0, 3, 10)
  tell({ at: 'denied', flush: await flushed(sink), ...seen(sink) })
  await sink.close()
}

/** The process ends with records that nobody waited for, some of them reported while it ends. */
async function exit(): Promise<void> {
  const sink = open({ maxBytes: 16_384 })
  process.on('exit', () => give(sink, 20_000, 3, 100))
  give(sink, 0, 20, 100)
  await new Promise((resolve) => setImmediate(resolve))
  give(sink, 2000, 20, 100)
  process.exit(0)
}

/** Whether closed files are compressed, as an argument says. */
function compressionAt(index: number): 'none' | 'deflate' {
  return process.argv[index] === 'deflate' ? 'deflate' : 'none'
}

/** Writes until it is killed, and tells up to which number everything was flushed. */
async function kill(): Promise<void> {
  const sink = open({ maxBytes: 32_768, durability: 'none', compression: compressionAt(4) })
  tell({ at: 'open' })
  for (let from = 0; ; ) {
    for (let i = 0; i < 4; i++) {
      give(sink, from, 1, 150)
      from += 150
    }
    await sink.flush()
    tell({ flushed: from })
  }
}

/**
 * What a service does with the pages of three clients, from the one after the last that was acknowledged; it is killed,
 * and started again.
 */
async function pages(): Promise<void> {
  const sink = open({ maxBytes: 16_384, compression: compressionAt(5) })
  const sources = [1n, 2n, 3n].map((client) => ({ client, source: new BatchSource({ id: 'app', tag: 'x' }) }))
  const from = Number(process.argv[4])
  for (let sequence = from; ; ) {
    for (let i = 0; i < 5; i++, sequence++) {
      for (const { client, source } of sources) {
        const batch = source.ports({ [`client${client}`]: sequence })
        sink.accept({ ...batch, page: { client, sequence: BigInt(sequence) } })
      }
    }
    await sink.flush()
    tell({ acknowledged: sequence - 1, duplicates: sink.stats.duplicates })
  }
}

const SCENARIOS: Readonly<Record<string, () => Promise<void>>> = {
  diskFull,
  readOnly,
  fileLimit,
  denied,
  exit,
  kill,
  pages,
}
await SCENARIOS[scenario]?.()
