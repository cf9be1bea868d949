// Exports a schema of one's own, as the guide's sample `telemetry_export` does: types of every kind of field, two
// sources, files and Prometheus. Run it with: npx node --conditions=source examples/export-custom-schema.ts FOLDER,
// then: curl http://127.0.0.1:9464/metrics

import {
  array,
  chars,
  counter,
  createSchema,
  defineType,
  gauge,
  label,
  nested,
  timestamp,
  timestampUs,
  value,
} from '@sonde/sdk'

const dataRoot = process.argv[2] ?? '/tmp/sonde-example'

// 1. The schema and its attributes.
const schema = createSchema({
  name: 'example_schema',
  bufferBytes: 16 * 1024,
  export: { files: { dataRoot, maxBytes: 1 << 20, maxAgeUs: 3_600_000_000 } },
  prometheus: { endpoint: `127.0.0.1:${process.env.PORT ?? 9464}` },
})

// 2. Its types. Nested ones lie inside the record; an array has a fixed number of elements, text a fixed number of
// bytes.
const direction = defineType('direction', 'One direction of a flow', {
  bytes_total: counter('u64', { unit: 'bytes', help: 'Bytes' }),
  packets_total: counter('u64', { help: 'Packets' }),
})
const flow = schema.addType(
  defineType('flow', 'A flow between two ports', {
    timestamp: timestamp('us'),
    name: label('Name of the flow'),
    sent: nested(direction),
    received: nested(direction),
    queue_depth: array(gauge('u32', { help: 'Packets that wait, by queue' }), 4),
    note: chars(32, { role: 'value', help: 'What somebody says of it' }),
  }),
)

// What a C program has in memory, one field behind the other without padding, is reported as it is.
const step = schema.addType(
  defineType(
    'step',
    'A step of an algorithm',
    { timestamp: timestamp('us'), event_number: value('i32'), seconds: value('f64') },
    { layout: 'packed' },
  ),
)
await schema.start()

// 3. Two sources: the same types, files of their own. Id and tag are labels of their metrics.
const sources = ['east', 'west'].map((tag) => schema.createSource({ id: 'example-host', tag }))

// 4. Events, one at a time and packed.
const steps = Buffer.alloc(step.layout.recordBytes * 3)
for (const [i, source] of sources.entries()) {
  for (let iteration = 1; iteration <= 1000; iteration++) {
    source.report(flow, {
      timestamp: timestampUs(),
      name: 'a to b',
      sent: { bytes_total: iteration * 1500, packets_total: iteration },
      received: { bytes_total: 2n ** 63n + BigInt(iteration), packets_total: iteration },
      queue_depth: [i, 1, 2, 3],
      note: `iteration ${iteration}`,
    })
  }
  for (let n = 0; n < 3; n++) {
    const at = n * step.layout.recordBytes
    steps.writeBigUInt64LE(BigInt(timestampUs()), at)
    steps.writeInt32LE(-n, at + 8)
    steps.writeDoubleLE(n / 2, at + 12)
  }
  // An index may stand for a type, as in C.
  source.report(schema.indexOf(step), steps, 3)
}

// 5. Resolves once the files have everything; `close` does the same, and ends.
await schema.flush()

console.log(`${schema.status().prometheus}/metrics`)

// The listener alone does not keep a process; this one is at work for a minute.
setTimeout(() => schema.close(), 60_000)
