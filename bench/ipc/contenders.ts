import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createIpc, createSource, type IpcSink } from '@sonde/sdk'
import { SOCKET_NAME } from '@sonde/sdk/internal'
import { FarEnd } from './far-end.ts'
import { makeRecord, RECORD_BYTES, recordType, SERIAL_AT } from './record.ts'

/** Records between two turns of the loop. */
const TURN_RECORDS = 5000
const PACKED_RECORDS = 600
/** A fast application waits for the service rather than lose something. */
const SPOOLED_BYTES_MAX = 16 << 20
const LINES_AT_ONCE = 500

/** How fast records reach another process. Unit: records a second. */
export interface Contender {
  readonly name: string
  readonly mode: 'pages' | 'lines'
  readonly records: number
  send(farEnd: FarEnd, records: number): Promise<void>
}

/** Packed records, given by the hundred: what a source of hardware has. */
export const packed: Contender = {
  name: 'packed records',
  mode: 'pages',
  records: 4_000_000,
  async send({ socketsDir }, records) {
    await withSink(socketsDir, async (sink) => {
      const source = createSource({ id: 'bench', emit: (batch) => sink.accept(batch) })
      const bytes = packedRecords()
      for (let sent = 0; sent < records; sent += PACKED_RECORDS) {
        const count = Math.min(PACKED_RECORDS, records - sent)
        for (let i = 0; i < count; i++) bytes.writeUInt32LE(sent + i, i * RECORD_BYTES + SERIAL_AT)
        source.report(recordType, bytes.subarray(0, count * RECORD_BYTES), count)
        if (sent % 6000 === 0) await room(sink)
      }
      void source.flush()
    })
  },
}

/** Objects, one by one. */
export const objects: Contender = {
  name: 'objects',
  mode: 'pages',
  records: 1_000_000,
  async send({ socketsDir }, records) {
    await withSink(socketsDir, async (sink) => {
      const source = createSource({ id: 'bench', emit: (batch) => sink.accept(batch) })
      const record = makeRecord(0)
      for (let serial = 0; serial < records; serial++) {
        record.serial = serial
        source.report(recordType, record as never)
        if (serial % TURN_RECORDS === 0) await room(sink)
      }
      void source.flush()
    })
  },
}

/** The rival: the same objects as lines of JSON over the same kind of socket. */
export const lines: Contender = {
  name: 'JSON lines',
  mode: 'lines',
  records: 200_000,
  async send({ socketsDir }, records) {
    const socket = connect(join(socketsDir, SOCKET_NAME))
    const record = { ...makeRecord(0), time: Date.now() }
    for (let sent = 0; sent < records; sent += LINES_AT_ONCE) {
      let text = ''
      for (let serial = sent; serial < Math.min(records, sent + LINES_AT_ONCE); serial++) {
        text += `${JSON.stringify({ ...record, serial })}\n`
      }
      if (!socket.write(text)) await once(socket, 'drain')
      if (sent % TURN_RECORDS === 0) await nextTurn()
    }
    socket.end()
  },
}

/** How fast it was, and what it cost. */
export interface Speed {
  /** Unit: millions of records a second, from the first report until the far end has counted the last. */
  readonly millionsPerSecond: number
  /** Processor time of both processes together. Unit: seconds a million records. */
  readonly cpuSeconds: number
}

/** Sends all records, and checks that the far end has counted each of them. */
export async function speedOf(contender: Contender): Promise<Speed> {
  const farEnd = await FarEnd.start(contender.mode)
  try {
    const { records } = contender
    const [startMs, usedBefore] = [performance.now(), process.cpuUsage()]
    const counted = farEnd.counted()
    await contender.send(farEnd, records)
    const { records: came, sum, cpuSeconds } = await counted
    const seconds = (performance.now() - startMs) / 1000
    const { user, system } = process.cpuUsage(usedBefore)
    if (came !== records || sum !== (records * (records - 1)) / 2) {
      throw new Error(`${contender.name}: ${came} of ${records} records came, their sum is ${sum}`)
    }
    const millions = records / 1e6
    return { millionsPerSecond: millions / seconds, cpuSeconds: (cpuSeconds + (user + system) / 1e6) / millions }
  } finally {
    farEnd.stop()
  }
}

async function withSink(socketsDir: string, send: (sink: IpcSink) => Promise<void>): Promise<void> {
  const sink = createIpc({ socketsDir })
  await send(sink)
  await sink.close()
}

async function room(sink: IpcSink): Promise<void> {
  do await nextTurn()
  while (sink.status().spooledBytes > SPOOLED_BYTES_MAX)
}

function packedRecords(): Buffer {
  const bytes = Buffer.alloc(PACKED_RECORDS * RECORD_BYTES)
  for (let at = 0; at < bytes.length; at += RECORD_BYTES) bytes.writeBigUInt64LE(BigInt(Date.now()) * 1_000_000n, at)
  return bytes
}
