import { createAgent } from '@sonde/agent'
import { pageRoutes } from '@sonde/console'
import pino from 'pino'
import type { Loaded } from '../config/load.ts'
import { VERSION } from '../version.ts'
import { type Running, readyLine, serve } from './run.ts'

/** `sonde up`: agent, embedded store and page on one listener. */
export async function runUp(loaded: Loaded): Promise<Running> {
  const { config } = loaded
  const log = pino({ level: config.log.level }, pino.destination(2))
  const agent = createAgent({ config: config.agent, log, version: VERSION })
  const running = await serve(agent, loaded, pageRoutes)
  console.log(await readyLine(agent, running.address, ''))
  return running
}
