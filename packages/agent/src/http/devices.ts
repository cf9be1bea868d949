import type { ListedDevice } from '@sonde/sdk/api'
import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import type { Device } from '../devices/device.ts'
import { answerRoute } from './answer-route.ts'

/** `GET /api/v1/devices`: the devices of the node, from the records of its sources. */
export function devicesRoute(app: FastifyInstance, agent: Agent): void {
  answerRoute(app, '/api/v1/devices', () => ({ nowMs: Date.now(), devices: listedDevices(agent) }))
}

/** The devices of an agent as they are listed. */
export function listedDevices({ devices }: Agent): readonly ListedDevice[] {
  return devices.list().map(listed)
}

function listed({ about: _, isSimulated, goneMs, goneReason, ...device }: Device): ListedDevice {
  const state = goneMs === undefined ? 'present' : 'gone'
  return { ...device, state, ...(goneMs === undefined ? {} : { goneMs, goneReason }), simulated: isSimulated }
}
