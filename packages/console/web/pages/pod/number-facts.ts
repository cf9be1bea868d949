import type { GpuPod } from '@sonde/sdk/api'
import type { Fact } from '../../components/facts.tsx'
import { ABSENT, formatIn, pickUnit } from '../../format/number.ts'
import { FIELD_WORDS } from '../app/gpu-fields.ts'

type PodNumbers = Pick<GpuPod, 'values' | 'deviceValues' | 'gaps' | 'gpus'>

/** The nine numbers of a pod. A number of the whole GPU, which others use too, says so. */
export function numberFacts({ values, deviceValues, gpus }: PodNumbers): readonly Fact[] {
  return FIELD_WORDS.map(({ field, label, quantity, isSum }): Fact => {
    const own = values[field]
    const value = own ?? deviceValues[field]
    if (value === undefined) return { label, value: ABSENT, caption: 'absent, see below' }
    const unit = pickUnit(quantity, value)
    const over = gpus > 1 ? `${isSum ? 'sum' : 'mean'} of ${gpus}` : ''
    return { label, value: formatIn(unit, value), unit: unit.label, caption: own === null ? 'of the whole GPU' : over }
  })
}

/** The numbers that are not known of the pod, with the reason of each. */
export function numberGaps({ gaps, deviceValues }: PodNumbers): readonly { title: string; reason: string }[] {
  return gaps.map(({ fields, reason }) => {
    const labels = FIELD_WORDS.filter(({ field }) => fields.includes(field)).map(({ label }) => label)
    const isShown = fields.every((field) => deviceValues[field] !== undefined)
    const named = fields.length === FIELD_WORDS.length ? 'All nine numbers' : labels.join(', ')
    return { title: `${named}${isShown ? ' of the pod alone' : ''}`, reason }
  })
}
