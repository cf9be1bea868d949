import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import type { Device } from '../devices/device.ts'
import { compress } from './compress.ts'

/** One device of `GET /api/v1/devices`. */
export interface DeviceAnswer extends Omit<Device, 'about' | 'isSimulated' | 'goneMs' | 'goneReason'> {
  /** Name of the node that it is of: devices of two nodes may have one id. */
  readonly host: string
  readonly state: 'present' | 'gone'
  readonly goneMs?: number
  readonly goneReason?: string
  readonly simulated: boolean
}

/** `GET /api/v1/devices`: what the node has, as the records of its sources say. */
export function devicesRoute(app: FastifyInstance, agent: Agent): void {
  app.get('/api/v1/devices', { onSend: compress }, (_request, reply) =>
    reply
      .header('cache-control', 'no-store')
      .send({ nowMs: Date.now(), devices: agent.devices.list().map((device) => answerOf(device, agent.node)) }),
  )
}

function answerOf({ about: _, isSimulated, goneMs, goneReason, ...device }: Device, host: string): DeviceAnswer {
  const state = goneMs === undefined ? 'present' : 'gone'
  return { ...device, host, state, ...(goneMs === undefined ? {} : { goneMs, goneReason }), simulated: isSimulated }
}
