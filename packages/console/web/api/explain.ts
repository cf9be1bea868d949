import { useEffect, useState } from 'react'
import { type ApiError, getJson } from './client.ts'

/** State of one link of a chain: nothing after the first broken one is known. */
export type LinkState = 'ok' | 'broken' | 'unknown'

/** One link between the hardware and its value. */
export interface ExplainLink {
  readonly name: string
  readonly state: LinkState
  /** What was tried, and what came back. */
  readonly tried: string
  readonly answer: string
  /** How to fix it: a command, or a sentence; absent if nothing is broken or nothing is known. */
  readonly fix?: string
}

/** One walk from the configuration to a value. */
export interface ExplainWalk {
  readonly of: string
  readonly source: string
  /** Empty if a source as a whole is explained. */
  readonly device: string
  readonly links: readonly ExplainLink[]
}

/**
 * Answer of `/api/v1/explain`: a walk with a broken link where there is one, and the others that the name stands for.
 */
export interface ExplainAnswer extends ExplainWalk {
  readonly others: readonly ExplainWalk[]
}

/** What a walk came to. */
export interface ExplainState {
  readonly answer: ExplainAnswer | undefined
  readonly error: ApiError | undefined
  readonly isWalking: boolean
  /** Walks again. */
  readonly again: () => void
}

/** Walks the chain of a source, device or metric once, and again when it is asked to. An empty name walks nothing. */
export function useExplain(of: string): ExplainState {
  const [walk, setWalk] = useState(0)
  const [state, setState] = useState<{ key: string; answer?: ExplainAnswer; error?: ApiError }>({ key: '' })
  const key = `${walk} ${of}`
  useEffect(() => {
    if (of === '') return
    let isWanted = true
    const finish = (result: { answer?: ExplainAnswer; error?: ApiError }): void => {
      if (isWanted) setState({ key, ...result })
    }
    getJson<ExplainAnswer>(`/api/v1/explain?of=${encodeURIComponent(of)}`).then(
      (answer) => finish({ answer }),
      (error: ApiError) => finish({ error }),
    )
    return () => {
      isWanted = false
    }
  }, [of, key])
  // The walk before stays while the same name is walked again.
  const isSame = state.key.endsWith(` ${of}`)
  return {
    answer: isSame ? state.answer : undefined,
    error: isSame ? state.error : undefined,
    isWalking: of !== '' && state.key !== key,
    again: () => setWalk((before) => before + 1),
  }
}
