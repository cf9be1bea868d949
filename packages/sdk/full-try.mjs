import { createSchema, defineType, gauge, label, timestamp, wallNs } from '@sonde/sdk'
import { mkdtempSync, rmSync } from 'node:fs'
const [, , how, ready, count] = process.argv
const dataRoot = mkdtempSync('/tmp/try/d-')
const schema = createSchema({ name: 'bakery', ...(how === 'files' ? { files: { dataRoot } } : { ipc: { socketsDir: process.env.SOCKETS } }) })
const oven = schema.addType(defineType('oven', '', { time: timestamp(), name: label(), celsius: gauge('f64') }))
await schema.start()
const source = schema.createSource({ id: 'me', tag: 'ovens' })
const t = wallNs()
const start = performance.now()
let turns = 0
const tick = setInterval(() => turns++, 1); tick.unref()
for (let i = 0; i < +count; i++) {
  if (ready === 'ready') await source.ready()
  source.report(oven, { time: t, name: 'left', celsius: i })
}
const reported = performance.now() - start
await schema.flush().catch((e) => console.log(e.code, e.message))
console.log(how, ready, 'reported', (count / reported / 1000).toFixed(2), 'M/s; acked', (count / (performance.now() - start) / 1000).toFixed(2), 'M/s', turns, JSON.stringify(schema.status().sinks[0].stats))
await schema.close().catch((e) => console.log(e.code, e.message))
rmSync(dataRoot, { recursive: true })
