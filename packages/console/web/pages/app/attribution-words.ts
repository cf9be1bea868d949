import type { GpuAttribution } from '@sonde/sdk/api'

/** How sure it is that a pod holds its GPUs, who says so, and which label named the app: `certain: kubelet · app`. */
export function attributionWords(attribution: GpuAttribution | null): string {
  if (attribution === null) return '–'
  const { confidence, from, appLabel, waiting } = attribution
  const held = confidence === null ? [] : [`${confidence}: ${from.join(', ')}`]
  const label = appLabel === '' ? [] : [`label ${appLabel}`]
  const state = waiting === '' ? [] : [waiting]
  return [...held, ...label, ...state].join(' · ') || '–'
}
