import { SondeError } from '@sonde/sdk'
import type { ScenarioRequest } from '@sonde/sdk/api'
import { show } from '@sonde/sdk/config'
import { JsonReader } from '@sonde/sdk/internal'
import type { NodeClass } from '../classes/node-class.ts'
import { SCENARIO_NAMES } from '../names.ts'
import { checkScenarioName } from './check-scenario-name.ts'
import { type Draw, deviceId, findDevice, freeDevice, targetsOf } from './devices.ts'
import type { Scenario, StruckDevice } from './scenario.ts'
import { SCENARIOS } from './scenarios.ts'

/** Other scenarios of a book that affect a new one. Times are in seconds from now. */
export interface Others extends Omit<Draw, 'isTaken'> {
  /** Whether another scenario affects the device with this id during that time. */
  readonly isTaken: (id: string, delayS: number, durationS: number) => boolean
}

/** A request with all values chosen. */
export interface ChosenScenario {
  readonly scenario: Scenario
  /** Undefined if it affects the whole node. */
  readonly device: StruckDevice | undefined
  readonly severity: number
  readonly delayS: number
  readonly durationS: number
}

const DAY_S = 86_400
const read = new JsonReader((message) => new SondeError('SIM_FORM', message))
const KEYS = ['name', 'device', 'severity', 'delayS', 'durationS']

/**
 * Checks a request from outside.
 *
 * @throws SondeError `SIM_FORM` if a key or the type of a value is wrong.
 */
export function parseRequest(body: unknown): ScenarioRequest {
  const given = read.object('the request', body, KEYS)
  for (const [key, value] of Object.entries(given)) {
    const type = key === 'name' || key === 'device' ? 'string' : 'number'
    if (typeof value !== type) throw read.wrong(key, value, `a ${type}`)
  }
  if (!('name' in given)) throw new SondeError('SIM_FORM', `name is missing; allowed: ${SCENARIO_NAMES.join(', ')}`)
  return given as unknown as ScenarioRequest
}

/**
 * Finds scenario and device, and fills in missing values.
 *
 * @throws SondeError `SIM_UNKNOWN` for unknown names, `SIM_FORM` for values out of range and for devices of the wrong
 * kind.
 */
export function chooseScenario(node: NodeClass, request: ScenarioRequest, others: Others): ChosenScenario {
  checkScenarioName(request.name)
  const scenario = SCENARIOS.find(({ name }) => name === request.name) as Scenario
  const { severity: range } = scenario
  const delayS = checkDelay(request.delayS ?? 0)
  const durationS = inRange('durationS', request.durationS ?? scenario.durationS, 1, DAY_S, 'seconds')
  const draw: Draw = { ...others, isTaken: (id) => others.isTaken(id, delayS, durationS) }
  return {
    scenario,
    device: chooseDevice(node, scenario, request.device, draw),
    severity: inRange('severity', request.severity ?? range.default, range.min, range.max, range.unit),
    delayS,
    durationS,
  }
}

function chooseDevice(
  node: NodeClass,
  scenario: Scenario,
  name: string | undefined,
  draw: Draw,
): StruckDevice | undefined {
  if (scenario.target === 'node') {
    if (name === undefined || name === '') return undefined
    throw new SondeError('SIM_FORM', `${scenario.name} happens to the whole node; leave device ${show(name)} out`)
  }
  const targets = targetsOf(node, scenario)
  const ids = targets.map((device) => deviceId(node, device))
  if (ids.length === 0)
    throw new SondeError(
      'SIM_FORM',
      `${scenario.name} needs a ${scenario.target} that it can happen to; ${node.name} has none`,
    )
  const device = name === undefined || name === '' ? freeDevice(node, scenario, draw) : findDevice(node, name)
  if (device === undefined)
    throw new SondeError('SIM_UNKNOWN', `${show(name)} is no device of ${node.name}; allowed: ${ids.join(', ')}`)
  if (!ids.includes(deviceId(node, device)))
    throw new SondeError(
      'SIM_FORM',
      `${scenario.name} cannot happen to ${deviceId(node, device)}; allowed: ${ids.join(', ')}`,
    )
  return device
}

function checkDelay(delayS: number): number {
  if (delayS < 0)
    throw new SondeError(
      'SIM_FORM',
      `delayS is ${delayS}: past values have been reported already; allowed: 0 to ${DAY_S} seconds`,
    )
  return inRange('delayS', delayS, 0, DAY_S, 'seconds')
}

function inRange(key: string, value: number, min: number, max: number, unit: string): number {
  if (value >= min && value <= max) return value
  throw new SondeError('SIM_FORM', `${key} is ${value}; allowed: ${min} to ${max}${unit === '' ? '' : ` (${unit})`}`)
}
