import { countOf } from '@sonde/sdk/internal'
import { GPU } from '../watch/signals.ts'
import type { Rule } from './rule.ts'
import { titleOf } from './words.ts'

/** A mark rather than an alarm: numbers of the device are nobody's own. */
export const sharedDevice: Rule = {
  name: 'shared_device',
  sees: 'MIG splits a GPU: power, clock and temperature are of the whole board, and one heavy instance slows down all.',
  severity: 'notice',
  of: 'gpu',
  neededMs: 0,
  uses: [GPU.migMode, GPU.migInstances],
  shows: [GPU.migInstances, GPU.power],
  limits: [{ what: 'MIG instances', value: 1, unit: 'or more', source: 'NVML' }],
  not: {},
  toldApart: ['series that an exporter tells twice: same values at the same times under separate UUIDs'],
  lacksAlways: ['attribution to pods, without which time slices cannot be told'],
  find(look) {
    const count = look.windows(GPU.migInstances).filter((window) => window.isFresh(look.scope.nowMs)).length
    if (!(look.last(GPU.migMode) === 1) && count === 0) return undefined
    return {
      title: `${titleOf(look.device)} is shared`,
      sentence: `${look.device.name} is split into ${countOf(count, 'MIG instance')}; its power, clock and temperature are those of the whole board`,
      value: count,
      limit: 1,
      unit: 'instances',
    }
  },
}
