import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createIpc, createSchema, type Source, wallNs } from '@sonde/sdk'
import { SOCKET_NAME } from '@sonde/sdk/internal'
import { DEVICE_AT, DEVICES, deviceOf, makeRecord, RECORD_BYTES, recordType, SERIAL_AT } from './record.ts'

/** Records between two looks whether there is room for more. */
const TURN_RECORDS = 6000
const PACKED_RECORDS = 600
const LINES_AT_ONCE = 500

/**
 * What an application does for so long: report, then wait until everything is acknowledged. Gives the number of
 * records.
 */
export interface Sender {
  readonly name: string
  report(socketsDir: string, durationMs: number): Promise<number>
}

/** Packed records, given by the hundred: what a source of hardware has. */
export const packed: Sender = {
  name: 'packed records',
  report: (socketsDir, durationMs) =>
    withSource(socketsDir, async (source) => {
      const endMs = performance.now() + durationMs
      const bytes = packedRecords(source)
      for (let sent = 0; ; sent += PACKED_RECORDS) {
        if (sent % TURN_RECORDS === 0) {
          await source.ready()
          if (performance.now() > endMs) return sent
        }
        number(bytes, sent)
        source.report(recordType, bytes, PACKED_RECORDS)
      }
    }),
}

/** Objects, one by one. */
export const objects: Sender = {
  name: 'objects',
  report: (socketsDir, durationMs) =>
    withSource(socketsDir, async (source) => {
      const endMs = performance.now() + durationMs
      const record = makeRecord()
      for (let serial = 0; ; serial++) {
        if (serial % TURN_RECORDS === 0) {
          await source.ready()
          if (performance.now() > endMs) return serial
          record.time = wallNs()
        }
        record.serial = serial
        record.device = deviceOf(serial)
        source.report(recordType, record as never)
      }
    }),
}

/**
 * The rival: the same objects as lines of JSON over the same kind of socket, whose reader answers when it has stored
 * all of them.
 */
export const lines: Sender = {
  name: 'JSON lines',
  async report(socketsDir, durationMs) {
    const socket = connect(join(socketsDir, SOCKET_NAME))
    const endMs = performance.now() + durationMs
    const record = { ...makeRecord(), time: 0 }
    let serial = 0
    while (performance.now() < endMs) {
      let text = ''
      record.time = Date.now()
      for (const end = serial + LINES_AT_ONCE; serial < end; serial++) {
        text += `${JSON.stringify({ ...record, serial, device: deviceOf(serial) })}\n`
      }
      if (!socket.write(text)) await once(socket, 'drain')
      if (serial % TURN_RECORDS === 0) await nextTurn()
    }
    socket.end()
    const [stored] = (await once(socket, 'data')) as [Buffer]
    if (Number(stored) !== serial) throw new Error(`${stored} of ${serial} lines were stored`)
    return serial
  },
}

async function withSource(socketsDir: string, report: (source: Source) => Promise<number>): Promise<number> {
  const ipc = createIpc({ socketsDir })
  const schema = createSchema({ name: 'bench', sinks: [ipc] })
  schema.addType(recordType)
  await schema.start()
  const source = schema.createSource({ id: 'bench', tag: 'load' })
  const records = await report(source)
  // Everything is acknowledged then, or this rejects.
  await source.flush()
  await schema.close()
  if (ipc.stats.out !== records) throw new Error(`${ipc.stats.out} of ${records} records were acknowledged`)
  return records
}

function packedRecords({ symbols }: Source): Buffer {
  const bytes = Buffer.alloc(PACKED_RECORDS * RECORD_BYTES)
  const devices = DEVICES.map((device) => symbols.id(device))
  for (let i = 0; i < PACKED_RECORDS; i++) {
    bytes.writeUInt32LE(devices[i % devices.length] ?? 0, i * RECORD_BYTES + DEVICE_AT)
  }
  return bytes
}

/**
 * Writes the time and the number of each record. Its last bits number the records of a batch, which carries no bit
 * further.
 */
function number(bytes: Buffer, from: number): void {
  const baseNs = wallNs() & ~1023n
  const [low, high] = [Number(baseNs & 0xffffffffn), Number(baseNs >> 32n)]
  for (let i = 0, at = 0; i < PACKED_RECORDS; i++, at += RECORD_BYTES) {
    bytes.writeUInt32LE(low + i, at)
    bytes.writeUInt32LE(high, at + 4)
    bytes.writeUInt32LE(from + i, at + SERIAL_AT)
  }
}
