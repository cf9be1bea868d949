import { useMemo } from 'react'
import type { DeviceInfo } from '../api/devices.ts'
import { useKnownColumns } from '../api/use-known-columns.ts'
import type { ChartMark } from '../chart/chart-spec.ts'
import { usePageState } from '../state/time-window.ts'
import { KERNEL_QUERY, kernelMarks, kernelMessages } from './kernel-marks.ts'

const QUERIES = [KERNEL_QUERY]
const NO_QUERIES: typeof QUERIES = []

/**
 * Flags of messages of the kernel about a device, or about all hardware on the page of the host. The list stays
 * identical while the messages do, so that charts are not redrawn.
 */
export function useKernelMarks({ kind, address, simulated }: DeviceInfo): readonly ChartMark[] {
  const page = usePageState()
  const isNamed = !simulated && (kind === 'host' || address !== '')
  const answer = useKnownColumns(isNamed ? QUERIES : NO_QUERIES, page.range, page.stepMs)
  const isHost = kind === 'host'
  const messages = isNamed ? kernelMessages(answer, isHost ? undefined : new Set([address])) : []
  const said = JSON.stringify(kernelMarks(messages, { hasAddress: isHost }))
  return useMemo(() => JSON.parse(said) as readonly ChartMark[], [said])
}
