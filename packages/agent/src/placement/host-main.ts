import { Socket } from 'node:net'
import { parentPort } from 'node:worker_threads'
import { Absences, type Batch, type BatchSymbols, countDrop, createSource, messageOf, SondeError } from '@sonde/sdk'
import { FailedReads } from '../pipeline/failed-reads.ts'
import type { NodeSource, SourceDefinition } from '../sources/source.ts'
import { CHILD_PIPE, frameOf, readFrames } from './channel.ts'
import type { Done } from './child.ts'
import type { FromHost, HostedSource, ToHost } from './protocol.ts'

// Entry of the child process or worker in which one source runs. Everything it knows comes by message; it opens no
// listener and no file but its source's.

/** Its configuration is the longest message that a child gets. */
const TO_HOST_BYTES_MAX = 16 << 20
/** Texts of one message at most: with the longest ones it stays within what the agent takes. */
const SYMBOL_COUNT_MAX = 1000

let send: (message: FromHost) => void
let hosted: Promise<Hosted> | undefined

/** What is counted between two calls, and of the one that is open. */
interface Counts {
  readonly failed: FailedReads
  readonly dropped: Map<string, number>
  /** Sent in this call. */
  bytes: number
  /** Labels that the agent knows. */
  announced: number
  /** The table of texts that it knows, and up to which id. */
  table: BatchSymbols | undefined
  nextTextId: number
}

interface Hosted {
  readonly call: (id: number, method: 'probe' | 'sample' | 'close') => Promise<FromHost>
}

if (parentPort !== null) {
  const port = parentPort
  send = (message) => port.postMessage(message)
  port.on('message', receive)
} else {
  // Without its agent a child has nobody to report to. An exit would wait for a call that hangs.
  const end = () => process.kill(process.pid, 'SIGKILL')
  const pipe = new Socket({ fd: CHILD_PIPE, readable: true, writable: true })
    .on('error', () => undefined)
    .on('close', end)
  send = (message) => void pipe.write(frameOf(message))
  readFrames(pipe, TO_HOST_BYTES_MAX, ({ said }) => receive(said as ToHost), end)
}

function receive(message: ToHost): void {
  if (message.kind === 'open') {
    hosted = open(message.source)
    return
  }
  const { id, method } = message
  void (hosted ?? Promise.reject(new SondeError('AGT_SOURCE', 'no source was opened')))
    .then((source) => source.call(id, method))
    .catch(
      (error: unknown) => ({ kind: 'done', id, failed: 0, failures: [], dropped: {}, error: describe(error) }) as const,
    )
    .then(send)
}

function describe(error: unknown): { code: string; message: string } {
  return { code: error instanceof SondeError ? error.code : 'AGT_SAMPLE', message: messageOf(error) }
}

async function open(config: HostedSource): Promise<Hosted> {
  const { SOURCES } = (await import(config.module)) as { SOURCES: readonly SourceDefinition[] }
  const definition = SOURCES.find(({ name }) => name === config.type)
  if (definition === undefined) throw new SondeError('AGT_SOURCE', `${config.module} has no source ${config.type}`)
  const counts: Counts = {
    failed: new FailedReads(),
    dropped: new Map(),
    bytes: 0,
    announced: 2,
    table: undefined,
    nextTextId: 0,
  }
  const dropped = (reason: string, records: number) => countDrop(counts, reason, records)
  const source = createSource({
    id: config.name,
    intervalMs: config.intervalMs,
    emit: (batch) => forward(batch, config.floodBytes, counts),
    onLoss: dropped,
  })
  const absences = new Absences(source)
  const node = definition.create(config.options, {
    name: config.name,
    source,
    absences,
    paths: config.paths,
    failed: (place, error) => counts.failed.add(place, error, Date.now()),
    dropped,
  })
  let opened: Promise<void> | undefined

  return {
    async call(id, method) {
      counts.bytes = 0
      try {
        opened ??= Promise.resolve(node.open())
        await opened
        const probe = await run(node, method)
        absences.repeat()
        source.flush()
        return { kind: 'done', id, ...take(counts), ...(probe === undefined ? {} : { probe }) }
      } catch (error) {
        // What it reported before it failed holds all the same: which devices are gone, above all.
        source.flush()
        return { kind: 'done', id, ...take(counts), error: describe(error) }
      }
    },
  }
}

async function run(node: NodeSource, method: 'probe' | 'sample' | 'close') {
  if (method === 'probe') return node.probe()
  await node[method]()
  return undefined
}

function take({ failed, dropped }: Counts): Pick<Done, 'failed' | 'failures' | 'dropped'> {
  const taken = { failed: failed.count, failures: failed.latest(), dropped: Object.fromEntries(dropped) }
  failed.clear()
  dropped.clear()
  return taken
}

function forward(batch: Batch, floodBytes: number, counts: Counts): void {
  if (counts.bytes + batch.bytes.byteLength > floodBytes) {
    countDrop(counts, 'flood', batch.count)
    return
  }
  counts.bytes += batch.bytes.byteLength
  const { symbols } = batch.source
  if (symbols.count > counts.announced) {
    const texts = symbols.since(counts.announced)
    for (let at = 0; at < texts.length; at += SYMBOL_COUNT_MAX)
      send({ kind: 'symbols', texts: texts.slice(at, at + SYMBOL_COUNT_MAX) })
    counts.announced = symbols.count
  }
  tellTexts(batch.symbols, counts)
  // Sending serialises at once, but a worker's message is cloned: both leave the buffer free for the next batch.
  send({
    kind: 'batch',
    type: batch.type.fingerprint,
    clock: batch.clock,
    count: batch.count,
    bytes: batch.bytes.slice(),
  })
}

function tellTexts(symbols: BatchSymbols, counts: Counts): void {
  const { firstTextId, nextTextId } = symbols
  if (nextTextId === firstTextId) return
  const begins = symbols !== counts.table
  const firstId = begins ? firstTextId : counts.nextTextId
  if (nextTextId === firstId) return
  send({ kind: 'texts', begins, firstId, texts: symbols.textsFrom(firstId) })
  counts.table = symbols
  counts.nextTextId = nextTextId
}
