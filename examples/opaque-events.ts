// Reports opaque events, whose data only their application understands, into files, and reads them back from there.
// Run it with: npx node --conditions=source examples/opaque-events.ts FOLDER

import { globSync } from 'node:fs'
import {
  createSchema,
  DtbDecoder,
  maxOpaqueBytes,
  opaqueTypes,
  openDtb,
  readOpaque,
  readRecord,
  reportOpaque,
  viewsOf,
} from '@sonde/sdk'

const dataRoot = process.argv[2] ?? '/tmp/sonde-example'
const DOOR = '5f0c8b52-6a1b-4a36-9d4c-2f9a1d1f5c11'
const CAMERA = '0d6f7e0a-3a39-4a1e-8a64-0f3c1d5f7b22'

const schema = createSchema({ name: 'house', opaqueEvents: true, export: { files: { dataRoot } } })
await schema.start()
const source = schema.createSource({ id: 'house', tag: 'events' })

// An application is known by its GUID. Two numbers are its own; the data may have any length up to a limit.
reportOpaque(source, { appId: DOOR, userDefined1: 1, userDefined2: 2n ** 64n - 1n, data: Buffer.from('opened') })
reportOpaque(source, { appId: CAMERA, data: Buffer.alloc(maxOpaqueBytes(source), 7) })
reportOpaque(source, { appId: DOOR, data: new Uint8Array(0) })
await schema.close()

const isOpaque = new Set(opaqueTypes.map(({ fingerprint }) => fingerprint))

for (const path of globSync(`${dataRoot}/*/*/house/events*.bin`)) {
  const file = openDtb(path)
  const decoder = new DtbDecoder(file)
  for (let step = decoder.next(); step.kind !== 'stop'; step = decoder.next()) {
    if (step.kind !== 'records' || !isOpaque.has(step.batch.type.fingerprint)) continue
    const { type, bytes, count, symbols } = step.batch
    const views = viewsOf(bytes)
    for (let i = 0; i < count; i++) {
      const event = readOpaque(readRecord(type, views, i * type.layout.recordBytes, symbols))
      const who = event.appId === DOOR ? 'door' : 'camera'
      const what = event.data.length < 20 ? JSON.stringify(Buffer.from(event.data).toString()) : 'a picture'
      console.log(`${who} ${event.userDefined1} ${event.userDefined2} ${event.data.length} bytes: ${what}`)
    }
  }
  file.close()
}
