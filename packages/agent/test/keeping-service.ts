import { type Batch, type Sink, sinkStats } from '@sonde/sdk'
import { check } from '@sonde/sdk/config'
import pino from 'pino'
import { Faults } from '../src/pipeline/faults.ts'
import { serviceSchema } from '../src/service/config.ts'
import { Service } from '../src/service/service.ts'

/** A listening service whose only sink passes its batches to the test. */
export async function keepingService(socketsDir: string, accept: (batch: Batch) => void): Promise<Service> {
  const service = makeService(socketsDir, accept)
  service.start()
  await service.settled
  return service
}

/** The same before it is started. */
export function makeService(socketsDir: string, accept: (batch: Batch) => void): Service {
  const checked = check(serviceSchema, { sockets_dir: socketsDir, dir: socketsDir }, 'service')
  if (!checked.ok) throw new Error('the test has a wrong configuration')
  const log = pino({ level: 'silent' })
  const none = () => Promise.resolve()
  const sink: Sink = { name: 'kept', stats: sinkStats(), accept, flush: none, close: none }
  const [config, faults, gone] = [checked.value, new Faults(log), () => undefined]
  const sinks = [sink]
  return new Service({ config, log, faults, sinks, waitedFor: sinks, ownKinds: new Set(), accept, gone })
}
