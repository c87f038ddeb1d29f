#!/bin/sh
# Records what it is asked, and answers from the bare repository and the files beside it.
S=STATE; R=REMOTE
line=; for a in "$@"; do line="$line$(printf '%s' "$a" | tr '\n' '~') "; done; printf '%s\n' "$line" >> "$S/asked"
[ -e "$S/down" ] && { echo "could not resolve host: api.github.com" >&2; exit 1; }
escape() { printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g' | awk '{ printf "%s%s", sep, $0; sep = "\\n" }'; }
now() { date -u +%Y-%m-%dT%H:%M:%SZ; }
request() {
  branch=$(cat "$S/branch"); head=$(git -C "$R" rev-parse -q --verify "refs/heads/$branch" || cat "$S/head")
  printf '%s' "$head" > "$S/head"
  merged=null; by=null
  [ -e "$S/merged" ] && merged="{\"oid\":\"$(cat "$S/merged")\"}" && by="{\"login\":\"$(cat "$S/merged-by")\"}"
  printf '{"number":7,"url":"https://github.com/org/shop/pull/7","state":"%s","headRefOid":"%s","mergeCommit":%s,"mergedBy":%s,"reviews":[%s],"comments":[%s],"labels":[%s]}' \
    "$(cat "$S/state")" "$head" "$merged" "$by" "$(cat "$S/reviews" 2>/dev/null)" "$(cat "$S/comments" 2>/dev/null)" \
    "$(sort -u "$S/labels" 2>/dev/null | sed 's/.*/{"name":"&"}/' | paste -sd, -)"
}
merge() { # who
  base=$(git -C "$R" rev-parse refs/heads/main); head=$(git -C "$R" rev-parse "refs/heads/$(cat "$S/branch")")
  tree=$(git -C "$R" merge-tree --write-tree "$base" "$head" | head -1)
  commit=$(git -C "$R" -c user.name=GitHub -c user.email=g@h commit-tree "$tree" -p "$base" -p "$head" -m "Merge pull request #7")
  git -C "$R" update-ref refs/heads/main "$commit" "$base"; printf '%s' "$commit" > "$S/merged"; printf '%s' "$1" > "$S/merged-by"; echo MERGED > "$S/state"
}
case "$1 $2" in
  "person merges") merge ann ;;
  "api user") echo robot ;;
  "pr list") if [ -e "$S/state" ]; then printf '[%s]\n' "$(request)"; else echo '[]'; fi ;;
  "pr create") while [ $# -gt 0 ]; do case $1 in --head) printf '%s' "$2" > "$S/branch";; --body) printf '%s' "$2" > "$S/body";; esac; shift; done
    echo OPEN > "$S/state"; echo https://github.com/org/shop/pull/7 ;;
  "pr view") request ;;
  "label create") ;;
  "pr edit") while [ $# -gt 0 ]; do case $1 in --add-label) echo "$2" >> "$S/labels";;
      --remove-label) grep -vx "$2" "$S/labels" > "$S/kept"; mv "$S/kept" "$S/labels";; esac; shift; done ;;
  "pr comment") c="{\"author\":{\"login\":\"robot\"},\"createdAt\":\"$(now)\",\"body\":\"$(escape "$5")\"}"
    if [ -s "$S/comments" ]; then printf ',%s' "$c" >> "$S/comments"; else printf '%s' "$c" > "$S/comments"; fi ;;
  "pr merge") [ -e "$S/protected" ] && { echo "the base branch policy prohibits the merge" >&2; exit 1; }
    [ "$6" = "$(git -C "$R" rev-parse "refs/heads/$(cat "$S/branch")")" ] || { echo "head branch was modified" >&2; exit 1; }
    merge robot ;;
  *) echo "unknown: $*" >&2; exit 1 ;;
esac
