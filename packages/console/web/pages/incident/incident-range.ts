import { type IncidentAnswer, spanOfHint, spanOfIncident } from '@sonde/sdk/api'
import { useMemo } from 'react'
import type { FrameRange } from '../../api/frame.ts'
import type { ChartMark } from '../../chart/chart-spec.ts'
import { stepFor, usePageState } from '../../state/time-window.ts'
import { type KernelMessages, kernelMarks } from '../kernel-marks.ts'

/** The window of an open incident grows in steps, so that samples are not requested each second. Milliseconds. */
const GROWS_BY_MS = 10_000

/** What the charts of an incident share. */
interface IncidentRange {
  readonly range: Extract<FrameRange, { readonly kind: 'fixed' }>
  readonly stepMs: number
}

/** The window of an incident for charts. */
export function useIncidentRange({ incident, window }: IncidentAnswer): IncidentRange {
  const { url } = usePageState()
  const toMs = incident.state === 'open' ? Math.ceil(window.toMs / GROWS_BY_MS) * GROWS_BY_MS : Math.ceil(window.toMs)
  const fromMs = Math.floor(window.fromMs)
  const stepMs = url.stepMs ?? stepFor(toMs - fromMs)
  return useMemo(() => ({ range: { kind: 'fixed', fromMs, toMs }, stepMs }), [fromMs, toMs, stepMs])
}

/** Marks of the charts of an incident. */
export type IncidentMarks = readonly ChartMark[]

/** The time in which the cause of an incident held, and messages of the kernel. The list stays while the marks do. */
export function useIncidentMarks({ incident }: IncidentAnswer, messages: readonly KernelMessages[]): IncidentMarks {
  const [cause] = incident.hints
  const span = cause ? spanOfHint(cause) : spanOfIncident(incident)
  const ofKernel = kernelMarks(messages, { hasAddress: true })
  const told = JSON.stringify([{ ...span, label: incident.title }, ...ofKernel] satisfies IncidentMarks)
  return useMemo(() => JSON.parse(told) as IncidentMarks, [told])
}
