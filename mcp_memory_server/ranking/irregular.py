"""English forms that no suffix rule relates to their base word: went and go, children and child.

The Snowball stemmers only cut suffixes, so without this table a fact that says "bought" is not found by a
question that says "buy". Forms that a stemmer already joins are left out, and so are plurals that are a form of a
common verb too: who "lives" somewhere is asked where they "live" far more often than about lives.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_FORMS: Final = """
    arise arose arisen; awake awoke awoken; bear bore borne; beat beaten; become became; begin began begun;
    bend bent; bind bound; bite bit bitten; bleed bled; blow blew blown; break broke broken; breed bred;
    bring brought; build built; burn burnt; buy bought; catch caught; choose chose chosen; cling clung;
    come came; creep crept; deal dealt; dig dug; draw drew drawn; dream dreamt; drink drank drunk;
    drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought; find found;
    flee fled; fly flew flown; forbid forbade forbidden; forget forgot forgotten; forgive forgave forgiven;
    freeze froze frozen; give gave given; go went gone; grow grew grown; hang hung; hear heard; hide hid hidden;
    hold held; keep kept; kneel knelt; know knew known; lay laid; lead led; lean leant; leap leapt;
    learn learnt; leave left; lend lent; lie lain; light lit; lose lost; make made; mean meant; meet met;
    mistake mistook mistaken; pay paid; prove proven; ride rode ridden; ring rang rung; rise rose risen;
    run ran; say said; see saw seen; seek sought; sell sold; send sent; sew sewn; shake shook shaken;
    shine shone; shoot shot; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat;
    sleep slept; slide slid; smell smelt; speak spoke spoken; speed sped; spell spelt; spend spent; spill spilt;
    spin spun; spoil spoilt; spring sprang sprung; stand stood; steal stole stolen; stick stuck; sting stung;
    strike struck; strive strove striven; swear swore sworn; sweep swept; swell swollen; swim swam swum;
    swing swung; take took taken; teach taught; tear tore torn; tell told; think thought; throw threw thrown;
    tread trod trodden; understand understood; undertake undertook undertaken; wake woke woken;
    wear wore worn; weave wove woven; weep wept; win won; wind wound; withdraw withdrew withdrawn;
    write wrote written; child children; foot feet; goose geese; man men; mouse mice; ox oxen;
    person people; tooth teeth; woman women; wife wives; knife knives; shelf shelves;
    wolf wolves; half halves; loaf loaves; thief thieves; calf calves; scarf scarves; die dying died; tie tying;
    good better best; bad worse worst; far farther further
"""

IRREGULAR_ENGLISH: Final[Mapping[str, str]] = MappingProxyType(
    {form: base for base, *forms in (group.split() for group in _FORMS.split(";")) for form in forms}
)
