// Workers of node:cluster that each serve metrics of their own at one endpoint. What became of each is a line.
import cluster from 'node:cluster'
import { createMetrics, createSchema, SondeError } from '../src/index.ts'
import { messageOf } from '../src/internal/index.ts'

const [workers = '', endpoint = ''] = process.argv.slice(2)

if (cluster.isPrimary) {
  for (let i = 0; i < Number(workers); i++) cluster.fork()
} else {
  const schema = createSchema({ name: 'app', prometheus: { endpoint } })
  try {
    await schema.start()
    const metrics = createMetrics(schema.createSource({ id: 'app', tag: '' }), {
      labels: { worker: String(process.pid) },
    })
    metrics.gauge('worker_up', { help: 'Whether it runs' }).bind().set(1)
    await metrics.flush()
    console.log(`${process.pid} ${schema.status().prometheus}`)
  } catch (error) {
    console.log(`${process.pid} ${error instanceof SondeError ? error.code : ''} ${messageOf(error)}`)
  }
  setInterval(() => undefined, 1000)
}
