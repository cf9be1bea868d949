import type { ExplainAnswer } from '@sonde/sdk/api'
import { useEffect, useState } from 'react'
import { type ApiError, getAnswer } from './client.ts'

/** State of an explanation. */
export interface ExplainState {
  readonly answer: ExplainAnswer | undefined
  readonly error: ApiError | undefined
  readonly isWalking: boolean
  /** Repeats the walk. */
  readonly again: () => void
}

/** Walks the chain of a source, device or metric once, and again on request. An empty name does nothing. */
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
    getAnswer('/api/v1/explain', { of }).then(
      (answer) => finish({ answer }),
      (error: ApiError) => finish({ error }),
    )
    return () => {
      isWanted = false
    }
  }, [of, key])
  // The previous result stays while the same name is walked again.
  const isSame = state.key.endsWith(` ${of}`)
  return {
    answer: isSame ? state.answer : undefined,
    error: isSame ? state.error : undefined,
    isWalking: of !== '' && state.key !== key,
    again: () => setWalk((before) => before + 1),
  }
}
