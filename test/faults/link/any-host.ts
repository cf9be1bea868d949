import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { Batch, RecordType } from '@sonde/sdk'
import { frameOf, readFrames } from '../../../packages/agent/src/hosting/channel.ts'
import { fromHost } from '../../../packages/agent/src/hosting/from-host.ts'
import { Hosts } from '../../../packages/agent/src/hosting/hosts.ts'
import { LinkIn } from '../../../packages/agent/src/hosting/link-in.ts'
import { LinkOut } from '../../../packages/agent/src/hosting/link-out.ts'
import type { LinkMessage } from '../../../packages/agent/src/hosting/protocol.ts'
import { SourceStats } from '../../../packages/agent/src/hosting/source-stats.ts'
import { openLog } from '../../../packages/cli/src/log.ts'
import { until } from '../../../packages/sdk/test/helper.ts'
import { anySource, anyTypes } from './any-source.ts'

const FLOOD_BYTES = 64 << 20
const MESSAGE_BYTES_MAX = 64 << 20

/** Has a source in a child process or worker report once; gives its batches, but those of Sonde's own types. */
export async function reportElsewhere(
  host: 'worker' | 'any',
  options: { readonly seed: number; readonly startMs: number },
  accept: (batch: Batch) => void,
): Promise<void> {
  const types = anyTypes(options.seed)
  const definition = anySource(host, types)
  const hosts = new Hosts([{ name: 'child', definition, intervalMs: definition.intervalMs, options }], {
    config: {
      paths: { procfs: '/proc', sysfs: '/sys' },
      limits: { source_call_ms: 60_000, source_flood_bytes: FLOOD_BYTES },
    },
    sourcesModule: new URL('any-source.ts', import.meta.url).href,
    accept: (batch) => {
      if (types.includes(batch.type)) accept(batch)
    },
    log: openLog('silent'),
  })
  hosts.start(0)
  try {
    await until('a sample', () => {
      const [running] = hosts.sources
      if (running?.state === 'failed') throw new Error(running.reason)
      return running?.state === 'reading' && running.stats.samples > 0
    })
  } finally {
    await hosts.stop(1000)
  }
}

/** The way from hosts to their agent: batches of any source go in, and come out as the agent takes them. */
export class HostLink {
  readonly #pipe = new PassThrough()
  readonly #types: readonly RecordType[]
  readonly #outs = new Map<string, LinkOut>()
  readonly #ins = new Map<string, { readonly link: LinkIn; readonly tag: string }>()
  #error: unknown

  constructor(types: readonly RecordType[], accept: (batch: Batch) => void) {
    this.#types = types
    const failed = (error: unknown) => {
      this.#error ??= error
    }
    const take = (said: unknown, bytes: Uint8Array | undefined) => {
      const message = fromHost(said, bytes) as LinkMessage
      const { link, tag = '' } = this.#ins.get(message.source) ?? {}
      const batch = link?.take(message)
      // Sources of hosts have no tag.
      if (batch !== undefined) accept({ ...batch, source: { ...batch.source, tag } })
    }
    readFrames(this.#pipe, MESSAGE_BYTES_MAX, ({ said, bytes }) => take(said, bytes), failed)
  }

  accept(batch: Batch): void {
    const { id, tag, labels } = batch.source
    let out = this.#outs.get(id)
    if (out === undefined) {
      out = new LinkOut(id, this.#types, (message) => void this.#pipe.write(frameOf(message)))
      this.#outs.set(id, out)
      const { owner = {} } = batch.source
      const given = { name: id, labels, owner, life: 0, types: this.#types, stats: new SourceStats() }
      this.#ins.set(id, { link: new LinkIn({ ...given, intervalMs: 3_600_000, floodBytes: FLOOD_BYTES }), tag })
    }
    out.put(batch)
  }

  /** Everything that went in has come out. */
  async close(): Promise<void> {
    this.#pipe.end()
    if (this.#error === undefined) await once(this.#pipe, 'close')
    if (this.#error !== undefined) throw this.#error
  }
}
