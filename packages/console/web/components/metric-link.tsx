import type { ListedMetric } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { firstFunction, formatSignal } from '../state/signal.ts'
import { usePageState } from '../state/time-window.ts'
import { Breakable } from './breakable.tsx'

/** A metric's name, which opens it in the explorer. */
export function MetricLink({ field }: { readonly field: Pick<ListedMetric, 'metric' | 'role'> }) {
  const page = usePageState()
  const sig = [formatSignal({ metric: field.metric, function: firstFunction(field) })]
  return (
    <Link href={page.hrefTo('/explore', { sig })}>
      <Breakable name={field.metric} />
    </Link>
  )
}
