// An application that serves its own metrics where the variables of the guide say: records of four queues, twice a
// second.
import { counter, createSchema, defineType, gauge, label, timestamp, value, wallNs } from '@sonde/sdk'

const schema = createSchema({ name: 'mail' })
const queue = schema.addType(
  defineType('queue', 'A queue', {
    time: timestamp(),
    site: label('Site'),
    number: value('u32', { help: 'Number of the queue' }),
    depth: gauge('u32', { help: 'Letters that wait' }),
    sent_total: counter('u64', { help: 'Letters sent' }),
  }),
)
await schema.start()
const source = schema.createSource({ id: 'host-1', tag: 'letters' })
let rounds = 0

function report(): void {
  rounds++
  for (const number of [1, 2, 3, 4])
    source.report(queue, { time: wallNs(), site: 'north', number, depth: 10 * number, sent_total: number * rounds })
  source.emit()
}

report()
setInterval(report, 500)
console.log(schema.status().prometheus)
