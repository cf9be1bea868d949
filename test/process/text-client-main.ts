// An application that reports records with texts of their own, then new series: `node text-client-main.ts FOLDER TEXTS
// SERIES ipc|files`.
import { createFiles, createIpc, createSchema, defineType, gauge, label, text, timestamp, wallNs } from '@sonde/sdk'

const [folder = '', texts = '0', series = '0', way = 'ipc'] = process.argv.slice(2)
/** How many are reported between two acknowledgements: fewer than the sink keeps. */
const AT_ONCE = 5000

const sink = way === 'ipc' ? createIpc({ socketsDir: folder }) : createFiles({ dataRoot: folder })
const schema = createSchema({ name: 'notes', sinks: [sink] })
const noteType = schema.addType(
  defineType('note', 'A note that nobody wrote before', {
    time: timestamp(),
    desk: label('Where it was written'),
    words: text({ help: 'What it says' }),
    length_count: gauge('u32', { help: 'Its number' }),
  }),
)
await schema.start()
const source = schema.createSource({ id: 'notes', tag: 'test' })

async function report(count: number, record: (i: number) => { desk: string; words: string }): Promise<void> {
  for (let i = 0; i < count; i++) {
    source.report(noteType, { time: wallNs(), ...record(i), length_count: i })
    if (i % AT_ONCE === AT_ONCE - 1) await source.flush()
  }
  await source.flush()
}

await report(Number(texts), (i) => ({ desk: 'first', words: `note ${i} of many` }))
console.log(`rss ${process.memoryUsage.rss()}`)
await report(Number(series), (i) => ({ desk: `new ${i}`, words: 'the same' }))
await schema.close()
console.log(`done ${JSON.stringify(Object.fromEntries(sink.stats.dropped))}`)
