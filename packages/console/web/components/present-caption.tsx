import { usePageState } from '../state/time-window.ts'

/** Caption of a table of the present beside a past window. */
const PRESENT_WORDS = 'now, not in the window'

/** The caption of a table that shows only the present. It says so beside a past window. */
export function PresentCaption({ children = '' }: { readonly children?: string }) {
  const page = usePageState()
  const words = [children, page.isLive ? '' : PRESENT_WORDS].filter(Boolean).join('; ')
  return words !== '' && <span className="panel-caption">{words}</span>
}
