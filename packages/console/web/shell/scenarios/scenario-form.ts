import type { ListedScenario, ScenarioRequest, StartedScenario } from '@sonde/sdk/api'
import type { DeviceInfo } from '../../api/devices.ts'
import { deviceTitle } from '../../devices/device.ts'
import { formatAge, formatDuration } from '../../format/time.ts'

/** The fields of the form as typed. */
export interface ScenarioFields {
  /** Empty: the simulator chooses. */
  readonly device: string
  readonly severity: string
  readonly delayS: string
  readonly durationS: string
}

/** Longest delay and duration that can be typed. Unit: seconds. */
const LONGEST_S = 86_400

/** The fields of a scenario that was just chosen. */
export function firstFields({ severity, durationS }: ListedScenario): ScenarioFields {
  return { device: '', severity: String(severity.default), delayS: '0', durationS: String(durationS) }
}

/** Whether a scenario has a severity. */
export function hasSeverity({ severity }: ListedScenario): boolean {
  return severity.min < severity.max
}

/** Errors of the fields, one sentence each; empty if the form is valid. */
export function problemsOf(
  scenario: ListedScenario,
  fields: ScenarioFields,
): Readonly<Partial<Record<keyof ScenarioFields, string>>> {
  const { min, max } = scenario.severity
  const checks = {
    severity: rangeProblem(fields.severity, min, max),
    delayS: rangeProblem(fields.delayS, 0, LONGEST_S),
    durationS: rangeProblem(fields.durationS, 1, LONGEST_S),
  }
  return Object.fromEntries(Object.entries(checks).filter(([, problem]) => problem !== undefined))
}

function rangeProblem(text: string, min: number, max: number): string | undefined {
  const value = numberOf(text)
  return value >= min && value <= max ? undefined : `A number from ${min} to ${max}.`
}

/** Reads a number as people type it, with a point or a comma; NaN if it is none. */
function numberOf(text: string): number {
  const trimmed = text.trim().replace(',', '.')
  return trimmed === '' ? Number.NaN : Number(trimmed)
}

/** The request for the fields. */
export function scenarioRequest(scenario: ListedScenario, fields: ScenarioFields): ScenarioRequest {
  return {
    name: scenario.name,
    ...(fields.device === '' ? {} : { device: fields.device }),
    ...(hasSeverity(scenario) ? { severity: numberOf(fields.severity) } : {}),
    delayS: numberOf(fields.delayS),
    durationS: numberOf(fields.durationS),
  }
}

/** When a scenario begins or ends, in words. */
export function timeLeft({ onsetMs, endMs }: StartedScenario, nowMs: number): string {
  if (onsetMs > nowMs) return `begins in ${formatAge(onsetMs - nowMs)}`
  return endMs > nowMs ? `${formatAge(endMs - nowMs)} left` : 'ending'
}

/** The title of a simulated device; its id without the prefix until the devices are known. */
export function scenarioDeviceName(id: string, devices: readonly DeviceInfo[]): string {
  const device = devices.find((candidate) => candidate.id === id)
  if (!device) return id.replace(/^sim-/, '')
  const title = deviceTitle(device)
  return title === device.name ? title : `${title} ${device.name}`
}

/** The simulated hardware in one line. */
export function simulatorLine(simulator: {
  readonly nodeClass: string
  readonly seed: number
  readonly intervalMs: number
}): string {
  return `${simulator.nodeClass} · seed ${simulator.seed} · a sample every ${formatDuration(simulator.intervalMs)}`
}
