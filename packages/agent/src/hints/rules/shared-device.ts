import { GPU } from '../watch/signals.ts'
import { countMeasure } from './measure.ts'
import type { HintRule } from './rule.ts'
import { hintDeviceTitle } from './words.ts'

/** A mark rather than an alarm: several users share the numbers of the device. */
export const sharedDeviceRule: HintRule = {
  name: 'shared_device',
  sees: 'MIG splits a GPU: power, clock and temperature belong to the whole board, and one busy instance slows down all.',
  severity: 'notice',
  of: 'gpu',
  neededMs: 0,
  uses: [GPU.migMode, GPU.migInstances],
  shows: [GPU.migInstances, GPU.power],
  limits: [
    { what: 'MIG instances', value: 1, unit: 'or more', source: 'NVML' },
    { what: 'MIG mode', value: 1, unit: 'is on, even without instances', source: 'NVML' },
  ],
  not: {},
  toldApart: ['series that an exporter reports twice: same values at the same times under separate UUIDs'],
  lacksAlways: ['attribution to pods, without which time slices are not recognised'],
  find(inspection) {
    const count = inspection.windows(GPU.migInstances).filter((window) => window.isFresh(inspection.scope.nowMs)).length
    const isOn = inspection.last(GPU.migMode) === 1
    if (!isOn && count === 0) return undefined
    const { name } = inspection.device
    const title = `${hintDeviceTitle(inspection.device)} is shared`
    const ofBoard = 'its power, clock and temperature are those of the whole board'
    if (count === 0)
      return {
        title,
        measure: countMeasure(1, '>=', 1, 'MIG mode'),
        sentence: (value, limit) => `${name} has MIG mode ${value}, ${limit}, and no instance; ${ofBoard}`,
      }
    return {
      title,
      measure: countMeasure(count, '>=', 1, 'instances'),
      sentence: (value, limit) =>
        `${name} is split into ${value} MIG ${count === 1 ? 'instance' : 'instances'}, ${limit}; ${ofBoard}`,
    }
  },
}
