import { once } from 'node:events'
import { crc32 } from 'node:zlib'
import type { RecordType } from '@sonde/sdk'
import { type Clock, definitionOf } from '@sonde/sdk/internal'
import { type Identity, RawClient } from '../../../packages/agent/test/raw-client.ts'
import type { Random } from '../../../packages/sdk/test/random.ts'
import { until } from '../../sonde-process.ts'
import type { Exporters } from './exporters.ts'
import type { LyingPrometheus } from './prometheus.ts'

/** How long it may take to be let in. Unit: milliseconds. */
const ENTER_LIMIT_MS = 20_000
/** How long the service may take to serve a client to its end before the client just goes. Unit: milliseconds. */
const LEAVE_LIMIT_MS = 3000

/** Numbers at which something may turn over. */
export const EDGES = [
  0n,
  1n,
  2n,
  127n,
  128n,
  255n,
  65_535n,
  65_536n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 32n,
].concat([
  2n ** 40n,
  2n ** 40n + 1n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 63n - 1n,
  2n ** 63n,
  2n ** 64n - 2n,
  2n ** 64n - 1n,
])

/** Texts that mean something to somebody. */
export const TEXTS = [
  '',
  ' ',
  '__proto__',
  'constructor',
  'toString',
  'a"b\\c\nd',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is meant to be none.
  '*/ ${x} `',
  'é😀\u0000',
  '../../etc/passwd',
  'x'.repeat(4096),
]

const CLOCKS: readonly Clock[] = ['wall', 'monotonic', 'device']

/** What an attack has at hand. */
export interface Scene {
  readonly socketsDir: string
  readonly random: Random
  /** Ids of clients that are connected, as the API publishes them. */
  readonly clients: readonly bigint[]
  /** Where Sonde listens. */
  readonly address: string
  /** Folder of all that Sonde keeps. */
  readonly dir: string
  /** Folder of its files of records, in which everybody may put things. */
  readonly filesDir: string
  readonly exporters: Exporters
  readonly prometheus: LyingPrometheus
  /** Ends Sonde and starts it again; resolves with its new address. For attacks that are alone in their round. */
  restart(): Promise<string>
}

/** A way to hurt; it ends within seconds, whatever Sonde does. */
export type Attack = (scene: Scene) => Promise<void>

/** Enters, again where silent connections took the place before the service had read who it is. */
export async function enter(socketsDir: string, identity?: Identity): Promise<RawClient> {
  return until('a client enters', ENTER_LIMIT_MS, async () => {
    const raw = await RawClient.open(socketsDir)
    raw.hello(identity)
    await until('an answer to hello', ENTER_LIMIT_MS, () => raw.isClosed || raw.frames.length > 0)
    return raw.frames[0]?.kind === 'welcome' ? raw : undefined
  })
}

/** A client that keeps to the protocol, and means harm. */
export class Attacker {
  readonly raw: RawClient
  readonly #random: Random
  #sequence = 0n

  private constructor(raw: RawClient, random: Random) {
    this.raw = raw
    this.#random = random
  }

  static async enter({ socketsDir, random }: Scene): Promise<Attacker> {
    return new Attacker(await enter(socketsDir), random)
  }

  /** Announces a type at an index, which may be any. */
  type(type: RecordType, index = 0): void {
    const { fingerprint } = type
    this.raw.send({ kind: 'types', body: [{ index, fingerprint, definition: definitionOf(type) }] })
  }

  source(
    index = 0,
    { id = 'hostile', tag = '', labels = {} }: { id?: string; tag?: string; labels?: Record<string, string> } = {},
  ): void {
    this.raw.send({ kind: 'source', body: { index, id, tag, labels, schema: '' } })
  }

  symbols(texts: readonly string[], firstId = 0): void {
    this.raw.send({ kind: 'symbols', body: { source: 0, firstId, texts } })
  }

  /** Sends a page whose bytes are anything, of the next sequence unless another is given. */
  page(
    type: RecordType,
    count: number,
    { sequence = this.#sequence + 1n, bytes = this.bytesOf(type, count), index = 0 } = {},
  ): void {
    this.#sequence = sequence
    this.raw.page(0, count, bytes, { sequence, type: index, clock: this.#random.pick(CLOCKS) })
  }

  /** Records in which any number is an edge, and the time is now or an edge. */
  bytesOf({ layout, time }: RecordType, count: number): Buffer {
    const { recordBytes } = layout
    const bytes = Buffer.alloc(recordBytes * count, this.#random.pick([0, 1, 0xff]))
    const isTimely = this.#random.chance(0.7)
    for (let at = 0; at + 8 <= bytes.length; at += 8) {
      if (this.#random.chance(0.5)) bytes.writeBigUInt64LE(this.#random.pick(EDGES), at)
    }
    if (time === undefined || !isTimely) return bytes
    const now = BigInt(Date.now()) * (time.field.resolution === 'us' ? 1000n : 1_000_000n)
    for (let i = 0; i < count; i++) bytes.writeBigUInt64LE(now, i * recordBytes + time.offset)
    return bytes
  }

  /** Leaves once the service has served it to the end, or sent it away. */
  async leave(): Promise<void> {
    const { raw } = this
    raw.socket.end()
    if (!raw.isClosed)
      await Promise.race([
        once(raw.socket, 'close'),
        new Promise((resolve) => setTimeout(resolve, LEAVE_LIMIT_MS).unref()),
      ])
    raw.close()
  }
}

/** A page as a frame says it, with something in it that is not so. */
export function lie(
  random: Random,
  bytes: Buffer,
): { count?: number; byteLength?: number; crc?: number; slot?: number; source?: number; type?: number } {
  const number = Number(random.pick(EDGES) & 0xffff_ffffn)
  return random.pick([
    { count: number },
    { crc: number },
    { slot: number },
    { source: number },
    { type: number & 0xffff },
    { crc: (crc32(bytes) ^ 1) >>> 0 },
  ])
}
