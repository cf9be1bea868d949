import type { IncidentAnswer } from '@sonde/sdk/api'
import { useMemo, useRef } from 'react'

/**
 * The incident with every device that it affected since its page was opened. A job has phases without waiting, and
 * a list that shrinks and grows each second is hard to read.
 */
export function useSeenAffected(answer: IncidentAnswer): IncidentAnswer {
  const seen = useRef<readonly string[]>([])
  const { affected } = answer.incident
  seen.current = [...new Set([...seen.current, ...affected])]
  const all = seen.current
  const told = all.join('\n')
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is another only if its text is
  return useMemo(() => ({ ...answer, incident: { ...answer.incident, affected: all } }), [answer, told])
}
