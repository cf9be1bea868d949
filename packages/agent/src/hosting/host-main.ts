import { Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { type Batch, SondeError } from '@sonde/sdk'
import { messageOf } from '@sonde/sdk/internal'
import { ownThread } from '../processor/readings.ts'
import { decodeWatch } from '../rules/watch.ts'
import type { SourceDefinition } from '../sources/source.ts'
import { CHILD_PIPE, frameOf, readFrames } from './channel.ts'
import type { HostEdge } from './edge-gate.ts'
import { Host } from './host.ts'
import { LinkOut } from './link-out.ts'
import type { FromHost, HostedConfig, SaidError, ToHost } from './protocol.ts'
import { SourceStatus } from './source-status.ts'
import { StatusOut } from './status-out.ts'
import type { WorkerPlace } from './transport.ts'

// Entry of the child process or worker in which a host runs. Everything it knows comes by message; it opens no
// listener and no file but its sources'.

/** The configuration of a source is the longest message that a child gets. */
const TO_HOST_BYTES_MAX = 16 << 20
/** Initial credit of a window. Unit: bytes. */
const WINDOW_CREDIT_BYTES = 1 << 20
/** Beats in the time that a call may take, and the longest time between two. */
const BEATS = 2
const BEAT_MS_MAX = 2500

/** The remaining credit of a window, and the sender that waits for more. */
interface Credit {
  bytes: number
  granted: PromiseWithResolvers<void> | undefined
}

const inThread = parentPort !== null
const outs = new Map<string, LinkOut>()
const statuses: StatusOut[] = []
const credits = new Map<number, Credit>()
const host = new Host({
  // A thread of the pool is lost with each call that hangs.
  ...(inThread ? {} : { openLimit: Number(process.env.UV_THREADPOOL_SIZE ?? 4) }),
  onBlocked() {
    // Reports stuck devices first, because the agent ends the host at once.
    for (const told of statuses) told.flush()
    send({ kind: 'blocked' })
  },
})
let post: (message: FromHost) => void
/** Sources start in order, before any other request for them. */
let started: Promise<void> = Promise.resolve()
let beatMs = BEAT_MS_MAX
let beats: NodeJS.Timeout | undefined

if (parentPort !== null) {
  const port = parentPort
  Atomics.store((workerData as WorkerPlace).thread, 0, ownThread() ?? 0)
  post = (message) => port.postMessage(message)
  port.on('message', receive)
} else {
  // Without its agent a child has nobody to report to. An exit would wait for a call that hangs.
  const end = () => process.kill(process.pid, 'SIGKILL')
  const pipe = new Socket({ fd: CHILD_PIPE, readable: true, writable: true })
    .on('error', () => undefined)
    .on('close', end)
  post = (message) => {
    // What is sent in a turn wakes the agent once.
    if (pipe.writableCorked === 0) {
      pipe.cork()
      process.nextTick(() => pipe.uncork())
    }
    pipe.write(frameOf(message))
  }
  readFrames(pipe, TO_HOST_BYTES_MAX, ({ said }) => receive(said as ToHost), end)
}

function send(message: FromHost): void {
  beats?.refresh()
  post(message)
}

function receive(message: ToHost): void {
  if (message.kind === 'start') {
    const { source } = message
    started = started.then(() => start(source))
  } else if (message.kind === 'credit') {
    const credit = credits.get(message.id)
    if (credit === undefined) return
    credit.bytes += message.grantedBytes
    credit.granted?.resolve()
  } else if (message.kind === 'stop') {
    void started.then(() => host.stop(message.deadlineMs)).then((open) => send({ kind: 'stopped', open }))
  } else {
    const { id } = message
    started
      .then(() => answer(message))
      .then(
        (value) => send({ kind: 'reply', id, value }),
        (error: unknown) => send({ kind: 'reply', id, error: describe(error) }),
      )
  }
}

async function start(config: HostedConfig): Promise<void> {
  beat(config.callLimitMs)
  const status = new SourceStatus()
  const told = new StatusOut(config.name, status, send)
  statuses.push(told)
  try {
    const definition = await definitionOf(config)
    const out = new LinkOut(config.name, definition.types, send)
    outs.set(config.name, out)
    // It has loaded its code: from now on it answers in time.
    send({ kind: 'beat' })
    const onEdge = ({ monoNs, errorNs, ...edge }: HostEdge) =>
      send({ kind: 'edge', source: config.name, ...edge, monoNs: String(monoNs), errorNs: String(errorNs) })
    const accept = (batch: Batch) => out.put(batch)
    host.start({ config, definition, status, accept, onEdge, onStatus: () => told.changed() }, 0)
  } catch (error) {
    status.stats.failed.add('the host', error, Date.now())
    status.settle('failed', messageOf(error))
    told.flush()
  }
}

async function answer(message: Extract<ToHost, { id: number }>): Promise<unknown> {
  if (message.kind === 'probe')
    return host.probe({ config: message.source, definition: await definitionOf(message.source) })
  if (message.kind === 'command') return host.command(message.source, message.command)
  if (message.kind === 'period') return host.setPeriod(message.source, message.period)
  if (message.kind === 'watch') return host.watch(message.source, decodeWatch(message.watch))
  if (message.kind === 'pause') return host.pause(message.source, message.reason)
  if (message.kind === 'taps') return host.taps(message.source)
  if (message.kind === 'window') return sendWindow(message)
  return undefined
}

/** Sends pieces of a window while there is credit, then waits for more. */
async function sendWindow({ id, source, window }: Extract<ToHost, { kind: 'window' }>): Promise<unknown> {
  const credit: Credit = { bytes: WINDOW_CREDIT_BYTES, granted: undefined }
  credits.set(id, credit)
  try {
    return await host.window(source, window, async (batch) => {
      while (credit.bytes <= 0) {
        credit.granted = Promise.withResolvers()
        await credit.granted.promise
      }
      credit.bytes -= batch.bytes.byteLength
      outs.get(source)?.put(batch, id)
    })
  } finally {
    credits.delete(id)
  }
}

async function definitionOf({ module, type }: HostedConfig): Promise<SourceDefinition> {
  const { SOURCES } = (await import(module)) as { SOURCES: readonly SourceDefinition[] }
  const definition = SOURCES.find(({ name }) => name === type)
  if (definition === undefined) throw new SondeError('AGT_SOURCE', `${module} has no source ${type}`)
  return definition
}

function describe(error: unknown): SaidError {
  return { code: error instanceof SondeError ? error.code : 'AGT_SAMPLE', message: messageOf(error) }
}

/** Says that it is there whenever it has had nothing else to say. */
function beat(callLimitMs: number): void {
  const everyMs = Math.min(beatMs, Math.max(10, callLimitMs / BEATS))
  if (beats !== undefined && everyMs === beatMs) return
  beatMs = everyMs
  clearInterval(beats)
  beats = setInterval(() => send({ kind: 'beat' }), beatMs)
}
