// The stub of the benchmark, a process of its own: `node stub-main.ts SOCKETS_DIR`. It counts every record, adds up
// their numbers, and reports both to its parent when a client says goodbye.
import { closeSync, openSync, readSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import {
  type ClientFrame,
  clientFrames,
  encodeFrame,
  IPC_PROTOCOL,
  type ReadPage,
  type ServiceFrame,
  SOCKET_NAME,
} from '@sonde/sdk/internal'
import { RECORD_BYTES, SENT_AT, SERIAL_AT } from './record.ts'

/** What it has seen when the other side is done. */
export interface Counted {
  readonly records: number
  /** Sum of the numbers of all records. */
  readonly sum: number
  /**
   * From the reading of the clock in a record to its being counted, for records that hold such a reading. Unit:
   * milliseconds.
   */
  readonly latenciesMs: readonly number[]
}

const LIMITS = { pageBytes: 1 << 20, types: 256, sources: 64, symbols: 65_536, clientBytes: 64 << 20 }
const [, , socketsDir = ''] = process.argv

let records = 0
let sum = 0
let latenciesMs: number[] = []

function count(bytes: Buffer): void {
  const nowNs = process.hrtime.bigint()
  for (let at = 0; at < bytes.length; at += RECORD_BYTES) sum += bytes.readUInt32LE(at + SERIAL_AT)
  records += bytes.length / RECORD_BYTES
  const latencyMs = Number(nowNs - bytes.readBigUInt64LE(SENT_AT)) / 1e6
  // In the others the field is a small count.
  if (latencyMs < 0 || latencyMs > 60_000) return
  for (let at = SENT_AT; at < bytes.length; at += RECORD_BYTES) {
    latenciesMs.push(Number(nowNs - bytes.readBigUInt64LE(at)) / 1e6)
  }
}

function done(): void {
  const counted: Counted = { records, sum, latenciesMs }
  process.send?.(counted)
  records = 0
  sum = 0
  latenciesMs = []
}

/** As much of a service as is needed to know that every record came whole. */
/** Which client it is, and whether a file is its own, is nothing to measure. */
const SECRET = '0'.repeat(64)

function servePages(socket: Socket): void {
  const decoder = clientFrames(LIMITS.pageBytes)
  const target = Buffer.alloc(LIMITS.pageBytes)
  let sequence = 0
  let file: number | undefined
  let slotBytes = 0
  const send = (frame: ServiceFrame) => socket.write(encodeFrame(frame, ++sequence))
  const take = ({ slot, bytes, byteLength, crc }: ReadPage) => {
    const page =
      bytes === undefined ? target.subarray(0, byteLength) : Buffer.from(bytes.buffer, bytes.byteOffset, byteLength)
    if (slot !== undefined) readSync(file ?? -1, page, 0, byteLength, slot * slotBytes)
    if (crc32(page) !== crc) throw new Error('a page is not what it was')
    count(page)
  }
  const hear = (frame: ClientFrame) => {
    if (frame.kind === 'hello') {
      send({
        kind: 'welcome',
        body: {
          protocol: IPC_PROTOCOL,
          client: 1n,
          secret: SECRET,
          lastSequence: 0n,
          dropped: {},
          hidden: {},
          ack: 'memory',
          limits: LIMITS,
        },
      })
    } else if (frame.kind === 'attach') {
      file = openSync(frame.body.file, 'r')
      slotBytes = frame.body.slotBytes
      send({ kind: 'challenge', body: { nonce: SECRET } })
    } else if (frame.kind === 'proof') {
      send({ kind: 'attached', body: { ok: true, reason: '' } })
    } else if (frame.kind === 'bye') {
      if (file !== undefined) closeSync(file)
      socket.end()
      done()
    }
  }
  socket.on('data', (chunk: Buffer) => {
    let last = 0n
    for (const frame of decoder.frames(chunk)) {
      if (frame.kind !== 'page') hear(frame)
      else {
        take(frame.body)
        last = frame.body.sequence
      }
    }
    if (last > 0n) send({ kind: 'ack', body: { sequence: last, dropped: {}, hidden: {} } })
  })
}

const server = createServer(servePages)
server.listen(join(socketsDir, SOCKET_NAME), () => process.send?.('ready'))
process.on('disconnect', () => process.exit(0))
