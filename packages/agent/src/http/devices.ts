import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import type { Device } from '../devices/device.ts'
import { compress } from './compress.ts'

/** One device of `GET /api/v1/devices`. */
export interface DeviceAnswer extends Omit<Device, 'about' | 'isSimulated' | 'goneMs' | 'goneReason'> {
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
      .send({ nowMs: Date.now(), devices: agent.devices.list().map((device) => answerOf(device)) }),
  )
}

function answerOf({ about: _, isSimulated, goneMs, goneReason, ...device }: Device): DeviceAnswer {
  const state = goneMs === undefined ? 'present' : 'gone'
  return { ...device, state, ...(goneMs === undefined ? {} : { goneMs, goneReason }), simulated: isSimulated }
}
