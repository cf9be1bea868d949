// Gives two collectors of JSON lines each their part of the same records: fields of one, sources of the other. The file
// of an agent has the same keys below `export`. Run it with:
// npx node --conditions=source examples/destinations.ts http://127.0.0.1:4318/loads http://127.0.0.1:4318/labs

import { createSchema, defineType, gauge, label, timestamp, wallNs } from '@sonde/sdk'

const [loads = 'http://127.0.0.1:4318/loads', labs = 'http://127.0.0.1:4318/labs'] = process.argv.slice(2)

const schema = createSchema({
  name: 'rooms',
  export: {
    jsonl: [
      // Of the type `room` only its load, with time and labels, of all sources.
      { name: 'loads', url: loads, fieldSet: ['[room]', '^load_ratio$'] },
      // Everything, but of sources whose name begins with `lab`.
      { name: 'labs', url: labs, sources: ['lab*'] },
    ],
  },
})
const room = schema.addType(
  defineType('room', 'A room full of machines', {
    time: timestamp(),
    name: label(),
    load_ratio: gauge('f64', { unit: 'ratio', help: 'Load' }),
    temperature_celsius: gauge('f64', { unit: 'celsius', help: 'Temperature' }),
  }),
)
await schema.start()
for (const id of ['lab-1', 'office']) {
  const source = schema.createSource({ id, tag: 'building' })
  source.report(room, { time: wallNs(), name: 'north', load_ratio: 0.5, temperature_celsius: 21.5 })
}

await schema.flush()
for (const { name, stats } of schema.status().sinks) console.log(`${name}: ${stats.out} records arrived`)
await schema.close()
