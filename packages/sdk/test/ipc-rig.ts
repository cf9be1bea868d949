import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import {
  type Batch,
  createIpc,
  createSource,
  defineType,
  type IpcOptions,
  type IpcSink,
  type RecordType,
  readRecords,
  type Source,
  value,
  viewsOf,
} from '../src/index.ts'
import { IpcPeer, type PeerOptions } from './ipc-peer.ts'

/** Records that are told apart: a number that counts up, and 92 bytes more. */
export const wideType: RecordType = defineType('wide_serial', 'Test records', {
  serial: value('u64'),
  ...Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`filler${i}`, value('u64')])),
})
export const FILLERS = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`filler${i}`, i]))

/** A directory for a socket, which goes with the test. */
export function temporarySockets(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'sonde-ipc-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A client, a source that reports numbers to it, and a peer on a real socket. */
export class IpcRig {
  readonly peer: IpcPeer
  readonly sink: IpcSink
  readonly source: Source
  #serial = 0

  private constructor(peer: IpcPeer, sink: IpcSink) {
    this.peer = peer
    this.sink = sink
    this.source = createSource({ id: 'rig', bufferBytes: 60_000, emit: (batch) => sink.accept(batch) })
  }

  /** Both end with the test. `isAway`: the peer does not listen yet. */
  static async start(
    t: TestContext,
    options: IpcOptions & { readonly peer?: Partial<PeerOptions>; readonly isAway?: boolean } = {},
  ): Promise<IpcRig> {
    const { peer: peerOptions, isAway = false, socketsDir = temporarySockets(t), ...rest } = options
    const peer = new IpcPeer({ socketsDir, ...peerOptions })
    if (!isAway) await peer.listen()
    const rig = new IpcRig(peer, createIpc({ socketsDir, socketTimeoutMs: 2000, ...rest }))
    t.after(async () => {
      await rig.sink.close()
      await peer.leave()
    })
    return rig
  }

  /** Serial number of the next record. */
  get serial(): number {
    return this.#serial
  }

  /** Reports records with the next numbers, as one page where they fit the buffer. */
  report(count: number): void {
    for (let i = 0; i < count; i++) this.source.report(wideType, { serial: this.#serial++, ...FILLERS })
    void this.source.flush()
  }

  /** Numbers that the peer took, in order. */
  get taken(): number[] {
    return serialsOf(this.peer.pages)
  }
}

export function serialsOf(batches: readonly Batch[]): number[] {
  return batches.flatMap(({ type, bytes, count, symbols }) =>
    type.name === wideType.name
      ? [...readRecords(type, viewsOf(bytes), count, symbols)].map((record) => Number(Reflect.get(record, 'serial')))
      : [],
  )
}

/** Names of slot files of this process. */
export function slotFiles(directory = '/dev/shm', pid = process.pid): string[] {
  return readdirSync(directory).filter((name) => name.startsWith(`sonde-${pid}-`))
}

/** Whole numbers from 0 to, not including, the last. */
export function range(to: number): number[] {
  return Array.from({ length: to }, (_, i) => i)
}
