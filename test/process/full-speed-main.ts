// An application that reports as fast as it can: `node full-speed-main.ts WHERE FOLDER COUNT ready|blind`. Prints a
// line for what is wrong, and what the sink took.
import { createSchema, defineType, gauge, label, timestamp, wallNs } from '@sonde/sdk'

const [where, folder = '', count, pace] = process.argv.slice(2)

// Far less room than what is reported, so that a loop that does not wait loses records.
const sink =
  where === 'files'
    ? { export: { files: { dataRoot: folder, queueLimitBytes: 1 << 20 } } }
    : { ipc: { socketsDir: folder, spoolBytes: 1 << 20 } }
const schema = createSchema({ name: 'bakery', ...sink })
const oven = schema.addType(
  defineType('oven', 'An oven', { time: timestamp(), name: label(), celsius: gauge('f64', { unit: 'celsius' }) }),
)
await schema.start()
const source = schema.createSource({ id: 'me', tag: 'ovens' })
const say = (error: { code: string; message: string }) => console.log(error.code, error.message)

for (let i = 0; i < Number(count); i++) {
  if (pace === 'ready') await source.ready()
  source.report(oven, { time: wallNs(), name: 'left', celsius: i })
}
await schema.flush().catch(say)
console.log('out', schema.status().sinks[0]?.stats.out)
await schema.close().catch(say)
