// An application that reports to the service until it is ended: `node service-client-main.ts SOCKETS_DIR [WORKER]`. It
// prints a line for each page that is acknowledged.
import { counter, createIpc, createSchema, defineType, label, type SondeError, timestamp, wallNs } from '@sonde/sdk'

const [socketsDir = '', worker = 'a'] = process.argv.slice(2)

const ipc = createIpc({ socketsDir })
const schema = createSchema({ name: 'training', sinks: [ipc] })
const stepType = schema.addType(
  defineType('training', 'Steps of a training', {
    time: timestamp(),
    worker: label('Worker'),
    steps_total: counter('u64', { help: 'Steps done' }),
  }),
)
await schema.start()
const source = schema.createSource({ id: 'trainer', tag: 'test' })

let steps = 0
for (;;) {
  source.report(stepType, { time: wallNs(), worker, steps_total: ++steps })
  try {
    await source.flush()
    const { ack, mode, code } = ipc.status()
    console.log(`acked ${steps} ${ack} ${mode} ${code}`)
  } catch (error) {
    const { code, message } = error as SondeError
    console.log(`away ${code} ${message}`)
  }
  await new Promise((resolve) => setTimeout(resolve, 20))
}
