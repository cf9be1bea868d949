import type { ListedMetric } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { fieldMatchers } from '../state/listed-metrics.ts'
import { firstFunction, formatSignal } from '../state/signal.ts'
import { usePageState } from '../state/time-window.ts'
import { Breakable } from './breakable.tsx'

/** A metric's name with the constant labels of a field, which opens it in the explorer. */
export function MetricLink({ field }: { readonly field: Pick<ListedMetric, 'metric' | 'role' | 'labels'> }) {
  const page = usePageState()
  const { metric } = field
  const matchers = fieldMatchers(field)
  const conditions = matchers.map(({ label, value }) => `${label}="${value}"`).join(', ')
  const query = { metric, function: firstFunction(field) }
  const sig = [formatSignal(matchers.length > 0 ? { ...query, matchers } : query)]
  return (
    <Link href={page.hrefTo('/explore', { sig })}>
      <Breakable name={matchers.length > 0 ? `${metric}{${conditions}}` : metric} />
    </Link>
  )
}
